import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort } from '../ports.ts';
import { functionVariables, type Surroundings } from './environment-variables.ts';
import { forwardLines, type LogListener } from './log-lines.ts';
import type { WebFunctionConfig } from './web-function-config.ts';

/** How long an application has to start listening. Source: Lambda Web Functions, "Limits". */
const START_DEADLINE_MS = 10_000;
/** Between SIGTERM and SIGKILL. Source: Lambda Developer Guide, "Web function environment lifecycle". */
const STOP_GRACE_MS = 1_000;

const END_WITH_PARENT = new URL('./end-with-parent.ts', import.meta.url).href;

/** A running application of a Web Function. */
export interface WebProcess {
  readonly port: number;
  /** Settles when the process has ended. */
  readonly ended: Promise<void>;
  /** SIGTERM, one second, SIGKILL. */
  stop(): Promise<void>;
}

/**
 * Starts `node index.js` with nothing but its own environment, and resolves when it listens.
 * @throws Error when it ends first, or does not listen in time.
 */
export async function startWebProcess(
  fn: WebFunctionConfig,
  surroundings: Surroundings,
  onLog: LogListener,
): Promise<WebProcess> {
  const port = await freePort();
  const child = spawn(process.execPath, ['--import', END_WITH_PARENT, join(fn.codeDirectory, 'index.js')], {
    cwd: fn.codeDirectory,
    // An environment listens on 0.0.0.0 on AWS; here nothing but this machine may reach it.
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
  const deadline = Date.now() + START_DEADLINE_MS;
  while (Date.now() < deadline) {
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
