import { readdirSync, readFileSync } from 'node:fs';

/** Processor time and memory of this process and of all processes that it started, with their threads. Works only on Linux. */
export interface Use {
  /** Processor time of the processes that are running now; a process that has ended does not count. */
  readonly cpuMilliseconds: number;
  /** Memory in use; a memory page that several processes share, such as one with the code of Node, counts once. */
  readonly bytes: number;
}

export function useOfProcesses(): Use {
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => readProcess(Number(pid)));
  const ours = new Set([process.pid]);
  for (let size = 0; size < ours.size; ) {
    size = ours.size;
    for (const { pid, parent } of processes) if (ours.has(parent)) ours.add(pid);
  }
  const of = processes.filter(({ pid }) => ours.has(pid));
  return {
    cpuMilliseconds: of.reduce((sum, { cpuMilliseconds }) => sum + cpuMilliseconds, 0),
    bytes: of.reduce((sum, { pid }) => sum + proportionalBytes(pid), 0),
  };
}

/**
 * The proportional set size of a process: the memory pages of its own, and its part of the pages that it shares. Source:
 * proc_pid_smaps_rollup(5).
 */
function proportionalBytes(pid: number): number {
  try {
    const kilobytes = /^Pss: +(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1];
    return Number(kilobytes) * 1_024;
  } catch {
    return 0;
  }
}

/** Linux counts processor time in hundredths of a second. */
const TICK_MS = 10;

/** Source: proc_pid_stat(5). @returns nothing if the process has ended. */
function readProcess(pid: number): { pid: number; parent: number; cpuMilliseconds: number }[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name is the second field and may hold spaces, so the line is cut after it. After the cut, the first field is the third field of
    // the line.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const field = (number: number) => fields[number - 3] ?? 0;
    return [
      {
        pid,
        parent: field(4),
        cpuMilliseconds: (field(14) + field(15)) * TICK_MS,
      },
    ];
  } catch {
    return [];
  }
}
