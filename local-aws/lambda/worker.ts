import { existsSync } from 'node:fs';
import { enableCompileCache, flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';

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

/** An event for the worker. It gets the next one only after it has answered this one. */
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

const start = workerData as WorkerStart;
const parent = parentPort as MessagePort;
const tell = (message: WorkerMessage) => parent.postMessage(message);

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
  // Beside the code of all functions, so that the next thread of a function does not compile it again.
  enableCompileCache(join(start.codeDirectory, '../compile-cache'));
  const loaded = await import(pathToFileURL(file).href);
  const handler = loaded[exportName] ?? loaded.default?.[exportName];
  if (typeof handler !== 'function') {
    throw named('Runtime.HandlerNotFound', `${start.handler} is undefined or not exported`);
  }
  return handler as Handler;
}

async function runHandler(handler: Handler, event: WorkerEvent): Promise<void> {
  // The SDK reads it at every call.
  process.env._X_AMZN_TRACE_ID = event.traceId;
  try {
    const result = await handler(JSON.parse(event.payload), contextOf(event));
    await answerAndFreeze({ type: 'result', payload: JSON.stringify(result) ?? 'null' });
  } catch (error) {
    await answerAndFreeze(failed(error));
  }
}

/** Answers, then runs nothing until the next event wakes the thread. */
async function answerAndFreeze(message: WorkerMessage): Promise<void> {
  await Promise.all([process.stdout, process.stderr].map(flushed));
  // Set before the answer: the next event may come at once, and then there is nothing to wait for.
  Atomics.store(start.freezer, 0, FROZEN);
  tell(message);
  keepCompiledCode();
  Atomics.wait(start.freezer, 0, FROZEN);
}

let isCompiledCodeKept = false;

/**
 * Writes the compiled code into the cache after the first event, when most of it has run. By itself Node does so when the thread
 * ends, which may be minutes later. It writes nothing when it found the code in the cache.
 */
function keepCompiledCode(): void {
  if (!isCompiledCodeKept) flushCompileCache();
  isCompiledCodeKept = true;
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
