import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort } from '../host/ports.ts';
import { functionVariables, type Surroundings, type WebFunctionConfig } from './function-config.ts';
import { forwardLines, type LogListener } from './invocation.ts';

/** A place for one request in an environment. */
export interface Place {
  readonly port: number;
  release(): void;
}

/** Thrown when no environment can handle the request. */
export class NoPlace extends Error {
  readonly reason: 'crashed' | 'full';

  constructor(reason: NoPlace['reason']) {
    super(reason);
    this.name = 'NoPlace';
    this.reason = reason;
  }
}

interface Environment {
  readonly process: Promise<WebProcess>;
  inFlight: number;
}

/** After an application failed to start, no other is started for this time. The time doubles with each failure. */
const BACKOFF_FIRST_MS = 250;

const BACKOFF_MAX_MS = 10_000;

/** The environments of one Web Function. Each handles several requests at once; another is started when all are full. */
export class WebEnvironments {
  readonly #fn: WebFunctionConfig;
  readonly #surroundings: Surroundings;
  readonly #onLog: LogListener;
  readonly #environments = new Set<Environment>();
  #backoffMs = 0;
  #mayStartAt = 0;
  #isClosed = false;

  constructor(fn: WebFunctionConfig, surroundings: Surroundings, onLog: LogListener) {
    this.#fn = fn;
    this.#surroundings = surroundings;
    this.#onLog = onLog;
  }

  /** @throws NoPlace */
  async take(): Promise<Place> {
    const environment = this.#withRoom() ?? this.#start();
    environment.inFlight += 1;
    const release = () => {
      environment.inFlight -= 1;
    };
    try {
      return { port: (await environment.process).port, release };
    } catch {
      throw new NoPlace('crashed');
    }
  }

  /** Ends all environments, as AWS may at any time. */
  async stop(): Promise<void> {
    await Promise.all([...this.#environments].map(({ process }) => process.then(({ stop }) => stop()).catch(() => {})));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.stop();
  }

  #withRoom(): Environment | undefined {
    return [...this.#environments].find(({ inFlight }) => inFlight < this.#fn.concurrencyPerEnvironment);
  }

  #start(): Environment {
    if (this.#isClosed || performance.now() < this.#mayStartAt) throw new NoPlace('crashed');
    if (this.#environments.size >= this.#fn.environmentsMax) throw new NoPlace('full');
    const environment: Environment = {
      process: startWebProcess(this.#fn, this.#surroundings, this.#onLog),
      inFlight: 0,
    };
    this.#environments.add(environment);
    void this.#watch(environment);
    return environment;
  }

  async #watch(environment: Environment): Promise<void> {
    try {
      const process = await environment.process;
      this.#backoffMs = 0;
      await process.ended;
      if (!this.#isClosed) this.#log('ended; the next request starts it again');
    } catch (error) {
      this.#backoffMs = Math.min(BACKOFF_MAX_MS, this.#backoffMs * 2 || BACKOFF_FIRST_MS);
      this.#mayStartAt = performance.now() + this.#backoffMs;
      this.#log(`did not start: ${(error as Error).message}`);
    } finally {
      this.#environments.delete(environment);
    }
  }

  #log(line: string): void {
    this.#onLog({ function: this.#fn.label, line });
  }
}

/** The time that an application has to start listening. Source: Lambda Web Functions, "Limits". */
const START_DEADLINE_MS = 10_000;

/** The time between SIGTERM and SIGKILL. Source: Lambda Developer Guide, "Web function environment lifecycle". */
const STOP_GRACE_MS = 1_000;

/**
 * A module that is loaded into the process of a Web Function before its own code. It ends the process when its parent is gone, even by
 * `kill -9`: the kernel then closes the pipe on standard input. The module is in a URL, not in a file, because Node takes 50 ms to load
 * the compiler for one TypeScript file.
 */
const END_WITH_PARENT = `data:text/javascript,${encodeURIComponent(`
  process.stdin.on('end', () => process.exit(1));
  process.stdin.on('error', () => process.exit(1));
  process.stdin.resume();
`)}`;

/** A running process of a Web Function. */
interface WebProcess {
  readonly port: number;
  /** Settles when the process has ended. */
  readonly ended: Promise<void>;
  /** Sends SIGTERM, and SIGKILL a second later. */
  stop(): Promise<void>;
}

/**
 * Starts `node index.js` with only the environment variables of the function, and resolves when it listens.
 * @throws Error when it ends first, or does not listen in time.
 */
async function startWebProcess(
  fn: WebFunctionConfig,
  surroundings: Surroundings,
  onLog: LogListener,
): Promise<WebProcess> {
  const port = await freePort();
  const child = spawn(process.execPath, ['--import', END_WITH_PARENT, join(fn.codeDirectory, 'index.js')], {
    cwd: fn.codeDirectory,
    // On AWS an environment listens on 0.0.0.0. Here only this machine may reach it.
    env: { ...functionVariables(fn, surroundings), AWS_LAMBDA_HTTP_ENDPOINT: `127.0.0.1:${port}` },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  forwardLines(child.stdout, fn.label, onLog);
  forwardLines(child.stderr, fn.label, onLog);
  const ended = once(child, 'exit').then(() => {});
  const stop = () => stopChild(child, ended);
  try {
    await listening(port, child);
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, ended, stop };
}

async function listening(port: number, child: ChildProcess): Promise<void> {
  const deadline = performance.now() + START_DEADLINE_MS;
  while (performance.now() < deadline) {
    if (hasEnded(child)) throw new Error(`it ended with ${child.signalCode ?? `code ${child.exitCode}`}`);
    if (await accepts(port)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`it did not listen within ${START_DEADLINE_MS / 1_000} s`);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

async function stopChild(child: ChildProcess, ended: Promise<void>): Promise<void> {
  if (hasEnded(child)) return;
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS);
  await ended;
  clearTimeout(timer);
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
