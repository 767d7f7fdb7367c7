import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { format } from 'node:util';
import { constants, Script } from 'node:vm';
import { type MessagePort, parentPort, threadId, workerData } from 'node:worker_threads';

/**
 * Lambda's Node runtime, run inside a worker thread. It loads the handler once, then handles one event after the other. Between
 * two events the thread is frozen, as on Lambda: what an event left under way (a timer, a call to AWS) continues with the next
 * event, or never.
 */

/** What a worker is given when it starts. */
export interface WorkerStart {
  readonly codeDirectory: string;
  readonly handler: string;
  readonly functionName: string;
  readonly functionArn: string;
  readonly memoryMb: number;
  /** One number in shared memory: 1 while the worker is frozen. */
  readonly freezer: Int32Array;
}

/** An event for the worker. The worker gets the next event only after it has answered this one. */
export interface WorkerEvent {
  readonly requestId: string;
  readonly payload: string;
  readonly traceId: string;
  /** The time at which the event must have ended, in epoch milliseconds. */
  readonly deadline: number;
}

/** A message of the worker. */
export type WorkerMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'result'; readonly payload: string }
  | { readonly type: 'failed'; readonly errorType: string; readonly errorMessage: string; readonly trace: string[] };

/** The value of `WorkerStart.freezer` while the thread is frozen. */
const FROZEN = 1;

type Handler = (event: unknown, context: object) => unknown;

const DIGEST_BYTES = 32;

const start = workerData as WorkerStart;
const parent = parentPort as MessagePort;
const tell = (message: WorkerMessage) => parent.postMessage(message);

/** Writes the compiled code for the next thread. It is called once, after the first event, when most functions are compiled. */
let keepCompiled: (() => void) | undefined;

/** The id of the event that is handled; the last one between two events. */
let requestId: string | undefined;

for (const level of ['debug', 'info', 'warn', 'error', 'trace', 'log'] as const) console[level] = consoleOf(level);

try {
  const handler = await loadHandler();
  parent.on('message', (event: WorkerEvent) => void runHandler(handler, event));
  tell({ type: 'ready' });
} catch (error) {
  tell(failed(error));
}

/** @throws Error when there is no such module or export, as Lambda's runtime does. */
async function loadHandler(): Promise<Handler> {
  const [, moduleName = '', exportName = ''] = /^(.*)\.([^.]+)$/.exec(start.handler) ?? [];
  const file = ['.js', '.mjs', '.cjs'].map((end) => join(start.codeDirectory, moduleName + end)).find(existsSync);
  if (file === undefined) throw named('Runtime.ImportModuleError', `Cannot find module '${moduleName}'`);
  const loaded = loadCommonJs(file) ?? (await import(pathToFileURL(file).href));
  const handler = loaded[exportName];
  if (typeof handler !== 'function') {
    throw named('Runtime.HandlerNotFound', `${start.handler} is undefined or not exported`);
  }
  return handler as Handler;
}

/**
 * Loads a CommonJS module, with the code that an earlier thread of the function has compiled. Node's own compile cache keeps only what is
 * compiled while a module loads. Most functions are compiled later, when they are first called.
 * @returns the exports, or undefined when the file is no CommonJS module.
 */
function loadCommonJs(file: string): Record<string, unknown> | undefined {
  if (file.endsWith('.mjs')) return undefined;
  const source = readFileSync(file, 'utf8');
  // Beside the code of all functions, so that threads of other processes find it too. It is removed together with the code.
  const compiled = join(start.codeDirectory, '../compiled', `${basename(start.codeDirectory)}-${basename(file)}`);
  const cachedData = readCompiled(compiled, source);
  const script = compile(file, source, cachedData);
  if (!script) return undefined;
  if (!cachedData || script.cachedDataRejected) {
    keepCompiled = () => writeCompiled(compiled, source, script.createCachedData());
  }
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(file), module, file, dirname(file));
  return module.exports;
}

/** @returns undefined for an ES module and for a syntax error. Then `import` loads the file, or throws the error. */
function compile(filename: string, source: string, cachedData: Buffer | undefined): Script | undefined {
  const before = '(function (exports, require, module, __filename, __dirname) { ';
  try {
    return new Script(`${before}${source}\n})`, {
      filename,
      columnOffset: -before.length,
      ...(cachedData && { cachedData }),
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
  } catch {
    return undefined;
  }
}

function readCompiled(file: string, source: string): Buffer | undefined {
  if (!existsSync(file)) return undefined;
  const content = readFileSync(file);
  const data = content.subarray(DIGEST_BYTES);
  return digestOf(source, data).equals(content.subarray(0, DIGEST_BYTES)) ? data : undefined;
}

function writeCompiled(file: string, source: string, data: Buffer): void {
  mkdirSync(dirname(file), { recursive: true });
  // Another thread may write the same file, and either thread may be killed while it writes.
  const temporary = `${file}.${process.pid}.${threadId}`;
  try {
    writeFileSync(temporary, Buffer.concat([digestOf(source, data), data]));
    renameSync(temporary, file);
  } catch (error) {
    // On a full disk, each thread compiles the function by itself.
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    rmSync(temporary, { force: true });
  }
}

/** V8 trusts compiled code, so it is used only when it is whole and was compiled from this source. */
function digestOf(source: string, data: Uint8Array): Buffer {
  return createHash('sha256').update(source).update(data).digest();
}

/**
 * Lambda's own `console`: it begins a text with the time, the id of the request and the level.
 * Source: Lambda Developer Guide, "Log and monitor Node.js Lambda functions"; aws-lambda-nodejs-runtime-interface-client.
 */
function consoleOf(level: 'debug' | 'info' | 'warn' | 'error' | 'trace' | 'log'): (...items: unknown[]) => void {
  return (...items) => {
    const name = level === 'log' ? 'INFO' : level.toUpperCase();
    process.stdout.write(`${new Date().toISOString()}\t${requestId}\t${name}\t${format(...items)}\n`);
  };
}

async function runHandler(handler: Handler, event: WorkerEvent): Promise<void> {
  requestId = event.requestId;
  // The SDK reads it at every call.
  process.env._X_AMZN_TRACE_ID = event.traceId;
  try {
    const result = await handler(JSON.parse(event.payload), contextOf(event));
    await answerAndFreeze({ type: 'result', payload: JSON.stringify(result) ?? 'null' });
  } catch (error) {
    await answerAndFreeze(failed(error));
  }
}

/** Answers, keeps the compiled code if it has to, and then runs nothing until the next event wakes the thread. */
async function answerAndFreeze(message: WorkerMessage): Promise<void> {
  await Promise.all([process.stdout, process.stderr].map(flushed));
  // Set before the answer, because the next event may come at once. That event clears the value, and then `wait` returns immediately.
  Atomics.store(start.freezer, 0, FROZEN);
  tell(message);
  keepCompiled?.();
  keepCompiled = undefined;
  Atomics.wait(start.freezer, 0, FROZEN);
}

/** Resolves when the output, if there is any, has reached the parent thread, which logs it. */
async function flushed(stream: NodeJS.WriteStream): Promise<void> {
  if (stream.writableLength > 0) await new Promise<void>((resolve) => stream.write('', () => resolve()));
}

/** Source: Lambda Developer Guide, "Using the Lambda context object to retrieve Node.js function information". */
function contextOf({ requestId, deadline }: WorkerEvent): object {
  return {
    awsRequestId: requestId,
    callbackWaitsForEmptyEventLoop: true,
    functionName: start.functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: start.functionArn,
    memoryLimitInMB: String(start.memoryMb),
    logGroupName: process.env.AWS_LAMBDA_LOG_GROUP_NAME,
    logStreamName: process.env.AWS_LAMBDA_LOG_STREAM_NAME,
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  };
}

function named(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}

function failed(error: unknown): WorkerMessage {
  if (!(error instanceof Error)) {
    return { type: 'failed', errorType: typeof error, errorMessage: String(error), trace: [] };
  }
  const { name, message, stack = '' } = error;
  return { type: 'failed', errorType: name, errorMessage: message, trace: stack.split('\n') };
}
