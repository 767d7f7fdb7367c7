import { readdirSync, readFileSync } from 'node:fs';

/** Processor time and memory of this process and all that it started, with their threads. It works only on Linux. */
export interface Use {
  /** Of the processes that are running now. */
  readonly cpuMilliseconds: number;
  /** Resident memory. */
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
    bytes: of.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** Linux counts processor time in hundredths of a second, and memory in pages. */
const [TICK_MS, PAGE_BYTES] = [10, 4_096];

/** Source: proc_pid_stat(5). @returns nothing for a process that has ended meanwhile. */
function readProcess(pid: number): (Use & { pid: number; parent: number })[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name is the second field and may hold spaces, so the line is cut after it. The first field here is the third of the line.
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
        bytes: field(24) * PAGE_BYTES,
      },
    ];
  } catch {
    return [];
  }
}
