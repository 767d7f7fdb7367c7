import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { LocalService } from '../../local-aws/service.ts';
import { inherited } from './inherited.ts';

/** A separate process of `npm start`, which a test can end with any signal. */
export interface StartedProcess {
  readonly urls: LocalService['urls'];
  readonly pid: number;
  /** Sends a signal to the process group, and waits until the process ends. @returns its exit code. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>;
}

const ROOT = join(import.meta.dirname, '../..');
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) signalGroup(child, 'SIGKILL');
});

/** Starts the service on free ports and waits until it is ready. @throws Error with its output when it ends before that. */
export async function startProcess(dataDir: string, limits: Record<string, string>): Promise<StartedProcess> {
  const env = { ...inherited(), ...limits, PORT: '0', DATA_DIR: dataDir };
  const command = [join(ROOT, 'infra/local/start.ts')];
  const child = spawn(process.execPath, command, { cwd: ROOT, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  const ended = once(child, 'exit').finally(() => running.delete(child)) as Promise<[number | null]>;
  const printed: string[] = [];
  const urls = await new Promise<StartedProcess['urls']>((resolve, reject) => {
    const onLine = (line: string) => {
      printed.push(line);
      if (line.startsWith('READY ')) resolve(JSON.parse(line.slice('READY '.length)));
    };
    createInterface({ input: child.stdout }).on('line', onLine);
    createInterface({ input: child.stderr }).on('line', onLine);
    void ended.then(([code]) => reject(new Error(`npm start ended with code ${code}:\n${printed.join('\n')}`)));
  });
  return {
    urls,
    pid: child.pid as number,
    async end(signal) {
      signalGroup(child, signal);
      return (await ended)[0];
    },
  };
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // It has ended.
  }
}

/** The processes whose command line has the path of a data directory: Node's and the engine's. */
export function processesOn(dataDir: string): { readonly pid: number; readonly command: string }[] {
  return allProcesses().filter(({ command }) => command.includes(dataDir));
}

function allProcesses(): { readonly pid: number; readonly command: string }[] {
  if (process.platform !== 'linux') {
    const lines = execFileSync('ps', ['-A', '-o', 'pid=,args=']).toString().split('\n');
    return lines.map((line) => ({ pid: Number.parseInt(line, 10), command: line }));
  }
  return globSync('/proc/[0-9]*/cmdline').flatMap((file) => {
    try {
      return { pid: Number(file.split('/')[2]), command: readFileSync(file, 'utf8').replaceAll('\0', ' ') };
    } catch {
      // It has ended.
      return [];
    }
  });
}

/** The id of the process of the database that keeps its data there; 0 when there is none. */
export function engineOn(dataDir: string): number {
  return processesOn(dataDir).find(({ command }) => command.includes('--db-path'))?.pid ?? 0;
}
