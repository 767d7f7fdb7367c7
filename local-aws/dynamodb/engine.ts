import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { freePort } from '../host/ports.ts';
import { DYNAMODB_LOCAL } from './dynamodb-local.ts';
import { DYNOXIDE, INSTALL_DYNOXIDE, isDynoxideInstalled } from './dynoxide.ts';
import type { EngineAddress, EngineProgram } from './engine-program.ts';
import { beginInMemory, openKeptDatabase } from './kept-database.ts';

export interface Engine {
  /** The address of the engine, without a slash at its end. Its user name, if any, is the access key id of the tables. */
  readonly endpoint: string;
  /** False: the data ends with the engine. */
  readonly keepsData: boolean;
  close(): Promise<void>;
}

interface EngineOptions {
  /** Keeps the data over restarts, if the engine can. Without it the data is only in memory, at an address that others may guess. */
  readonly dataDir?: string;
  /** The folder of the objects that belong to the tables. Objects without tables are refused as a lost database. */
  readonly buckets?: string;
  /** Called with one sentence when the engine has ended by itself, and its data is not available again. */
  readonly onLost?: (error: Error) => void;
}

const PROGRAMS: Readonly<Record<string, EngineProgram>> = { dynoxide: DYNOXIDE, 'dynamodb-local': DYNAMODB_LOCAL };

const START_DEADLINE_MS = 30_000;
const POLL_MS = 20;

/** How often an engine that ended is started again before one stays. After that it is lost. */
const RESTARTS = 3;

/** An engine that ends sooner did not stay: its address may be another program's, which answers in its place. */
const STAYS_MS = 10_000;

/**
 * Starts the database and resolves once it answers. The variable `ENGINE` names the program; without it, it is Dynoxide, or DynamoDB Local
 * where Dynoxide is not installed.
 *
 * The database stands for a durable service. So an engine of kept data that ends by itself is started again at the same address.
 * @throws Error in one sentence when the engine does not come up, or the kept data is missing or damaged.
 */
export async function startEngine(options: EngineOptions = {}): Promise<Engine> {
  const { dataDir, buckets, onLost = ({ message }) => console.error(message) } = options;
  const program = chooseProgram(process.env.ENGINE);
  const keepsData = program.keepsData && dataDir !== undefined;
  const address = dataDir === undefined ? { host: '127.0.0.1' } : program.hiddenAddress();
  const to = { ...address, port: await freePort() };
  const start = async () => startProcess(program, to, await openData(program, dataDir, buckets));
  let child = await start();
  let isClosing = false;

  /** @returns the error of the last try if no engine answers. */
  const restart = async (): Promise<Error | undefined> => {
    if (!keepsData) return new Error('its data was only in memory.');
    console.error(`The database (${program.name}) has ended by itself. It is started again.`);
    let failure: Error | undefined;
    for (let tries = 0; tries < RESTARTS && !isClosing; tries++) {
      try {
        child = await start();
        return undefined;
      } catch (error) {
        failure = error as Error;
      }
    }
    return failure;
  };
  const supervise = async (): Promise<void> => {
    for (let ends = 1; ; ends++) {
      const startedAt = performance.now();
      await ended(child);
      if (performance.now() - startedAt > STAYS_MS) ends = 1;
      const isLost = ends > RESTARTS;
      const failure = isClosing ? undefined : isLost ? new Error('it ends again and again.') : await restart();
      if (isClosing) return end(child);
      if (failure === undefined) continue;
      // Not awaited: whoever is told may close the engine, which waits for the end of this function.
      onLost(new Error(`The database (${program.name}) has ended: ${failure.message}`));
      return;
    }
  };
  const supervision = supervise();
  return {
    endpoint: `http://${to.user === undefined ? '' : `${to.user}@`}${to.host}:${to.port}`,
    keepsData,
    async close() {
      isClosing = true;
      await end(child);
      await supervision;
    },
  };
}

function chooseProgram(name: string | undefined): EngineProgram {
  if (!name) return isDynoxideInstalled() ? DYNOXIDE : DYNAMODB_LOCAL;
  const program = PROGRAMS[name];
  if (program === undefined) throw new Error(`ENGINE must be ${Object.keys(PROGRAMS).join(' or ')}, not "${name}".`);
  if (program === DYNOXIDE && !isDynoxideInstalled()) {
    throw new Error(`Dynoxide is not installed: "${INSTALL_DYNOXIDE}" adds it.`);
  }
  return program;
}

/** @returns the file of the data, undefined when it is in memory. */
async function openData(
  { name, keepsData }: EngineProgram,
  dataDir: string | undefined,
  buckets: string | undefined,
): Promise<string | undefined> {
  if (dataDir === undefined) return undefined;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  if (keepsData) return openKeptDatabase(dataDir, buckets);
  await beginInMemory(name, dataDir, buckets);
  return undefined;
}

/**
 * Starts the engine in a session of its own, where a Ctrl-C for this process does not reach it: until everything else has ended, it is needed.
 * @throws Error in one sentence when it does not come up.
 */
async function startProcess(
  program: EngineProgram,
  to: EngineAddress & { readonly port: number },
  file: string | undefined,
): Promise<ChildProcess> {
  const { command, args, cwd } = program.command(to, file);
  const child = spawn(command, args, { cwd, detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk).slice(-2_000);
  });
  await once(child, 'spawn').catch(({ code, message }) => {
    throw new Error(program.whyItFailed(code, message));
  });
  await endWithThisProcess(child);
  const deadline = performance.now() + START_DEADLINE_MS;
  while (!(await answers(`http://${to.host}:${to.port}`))) {
    if (hasEnded(child))
      throw new Error(program.whyItFailed(child.exitCode ?? String(child.signalCode), stderr.trim()));
    if (performance.now() > deadline) {
      await end(child);
      throw new Error(`${program.name} did not answer within ${START_DEADLINE_MS / 1000} s: ${stderr.trim()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return child;
}

/** Any HTTP answer shows that it is up. */
const answers = (url: string) =>
  fetch(url).then(
    () => true,
    () => false,
  );

/** Starts a shell that ends the engine when its pipe from this process closes. After a `kill -9` of this process nothing else would. */
async function endWithThisProcess(engine: ChildProcess): Promise<void> {
  const shell = spawn('/bin/sh', ['-c', 'read _; kill -9 "$0"', String(engine.pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  engine.once('exit', () => shell.kill('SIGKILL'));
  await once(shell, 'spawn').catch(async (error) => {
    await end(engine);
    throw error;
  });
}

/** At once: an engine that may end in order waits for whoever is in the middle of a request. What it acknowledged is on disk. */
async function end(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await ended(child);
}

async function ended(child: ChildProcess): Promise<void> {
  if (!hasEnded(child)) await once(child, 'exit');
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;
