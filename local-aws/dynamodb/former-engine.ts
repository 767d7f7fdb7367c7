import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** What is left of an engine's memory is written long before this. */
const DEADLINE_MS = 10_000;

/**
 * Waits until the engine that used this directory before has ended. After a `kill -9` of its parent it goes on for a moment,
 * to write what it acknowledged; two engines on one directory would not see each other's writes.
 * @param pidFile  holds the process id of the last engine, if it has not ended in order.
 * @throws Error when it does not end.
 */
export async function formerEngineEnded(pidFile: string): Promise<void> {
  const pid = (await readFile(pidFile, 'utf8').catch(() => '')).trim();
  if (!/^\d+$/.test(pid)) return;
  const deadline = Date.now() + DEADLINE_MS;
  // The number may belong to something else by now.
  while ((await commandOf(pid)).includes('DynamoDBLocal.jar')) {
    if (Date.now() > deadline) throw new Error(`DynamoDB Local of the last start still runs: end process ${pid}.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Its command line; empty when there is no such process. */
async function commandOf(pid: string): Promise<string> {
  try {
    if (process.platform === 'linux') return await readFile(`/proc/${pid}/cmdline`, 'utf8');
    const { stdout } = await promisify(execFile)('ps', ['-o', 'args=', '-p', pid]);
    return stdout;
  } catch {
    return '';
  }
}
