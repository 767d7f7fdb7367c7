import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../host/ports.ts';

/** What is left of an engine's memory is written long before this. */
const DEADLINE_MS = 10_000;

/**
 * Waits until the engine that used this directory before has ended. After a `kill -9` of its parent it goes on for a moment,
 * to write what it acknowledged; two engines on one directory would not see each other's writes.
 * @param pidFile  holds the process id of the last engine, if it has not ended in order.
 * @throws Error when it does not end.
 */
async function formerEngineEnded(pidFile: string): Promise<void> {
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

interface DynamoDbLocal {
  /** Without a trailing slash. */
  readonly endpoint: string;
  /** Ends the engine and waits until all it acknowledged is on disk. */
  close(): Promise<void>;
}

/** Where npm put Amazon's jar (DynamoDB Local 1.25; it comes inside the Amplify simulator's package). */
const EMULATOR = join(
  dirname(createRequire(import.meta.url).resolve('amplify-dynamodb-simulator/package.json')),
  'emulator',
);
const START_DEADLINE_MS = 30_000;

/**
 * Starts Amazon's DynamoDB Local and resolves once it answers.
 *
 * The engine acknowledges a transaction a few milliseconds before it is on disk, and it stands here for a durable service.
 * So it runs in a session of its own, where a Ctrl-C or `kill -9` meant for us does not reach it, under a shell that ends
 * it by SIGTERM when our end of the pipe closes: however we die, what was acknowledged gets written.
 * @param dataDir  where the data lives over restarts; absent: in memory.
 * @throws Error in one sentence when there is no Java runtime, or the engine does not come up.
 */
export async function startDynamoDbLocal({ dataDir }: { dataDir?: string } = {}): Promise<DynamoDbLocal> {
  const pidFile = dataDir === undefined ? '/dev/null' : join(dataDir, 'engine.pid');
  if (dataDir !== undefined) {
    await mkdir(dataDir, { recursive: true });
    await formerEngineEnded(pidFile);
  }
  const port = await freePort();
  const java = [
    'java',
    '-Xmx512m',
    // It lives for minutes and serves one machine: the optimizing compiler and a collector with threads of its own took more
    // of the processor than all requests did.
    '-XX:TieredStopAtLevel=1',
    '-XX:+UseSerialGC',
    '-jar',
    'DynamoDBLocal.jar',
    '-disableTelemetry',
    '-sharedDb',
    ...(dataDir === undefined ? ['-inMemory'] : ['-dbPath', dataDir]),
    '-port',
    String(port),
  ];
  // `exec 3<&0`: a shell gives background jobs an empty stdin, so the pipe is kept on a descriptor of its own.
  const script =
    'exec 3<&0; pids=$1; shift; "$@" <&- & engine=$!; echo $engine >"$pids"; ' +
    '{ cat <&3 >/dev/null; kill -TERM $engine 2>/dev/null; } & wait $engine';
  const child = spawn('sh', ['-c', script, 'dynamodb-local', pidFile, ...java], {
    cwd: EMULATOR,
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let complaint = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk).slice(-2_000);
  });
  const endpoint = `http://127.0.0.1:${port}`;
  await answering(endpoint, child, () => complaint);
  return { endpoint, close: () => end(child) };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exited = once(child, 'exit');
  child.stdin?.end();
  await exited;
}

async function answering(endpoint: string, child: ChildProcess, complaint: () => string): Promise<void> {
  const deadline = Date.now() + START_DEADLINE_MS;
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(whyEnded(child.exitCode, complaint().trim()));
    // Any HTTP answer will do: an unsigned GET is answered 400.
    const up = await fetch(endpoint).then(
      () => true,
      () => false,
    );
    if (up) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await end(child);
  throw new Error(`DynamoDB Local did not answer within ${START_DEADLINE_MS / 1000} s: ${complaint().trim()}`);
}

function whyEnded(code: number, complaint: string): string {
  const install = 'install one, version 17 or newer (for example the package default-jre-headless).';
  // A Mac without Java has a `java` that only says so.
  if (code === 127 || /Unable to locate a Java Runtime/.test(complaint)) return `No Java runtime was found: ${install}`;
  if (/UnsupportedClassVersionError/.test(complaint)) return `The Java runtime is too old: ${install}`;
  return `DynamoDB Local ended with code ${code}: ${complaint}`;
}
