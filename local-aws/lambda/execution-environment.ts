import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { stop, transformSync } from 'esbuild';
import { type FunctionConfig, functionVariables, type Surroundings } from './function-config.ts';
import {
  failure,
  forwardLines,
  type Invocation,
  type InvocationResult,
  type LogListener,
  RESULT_MAX_BYTES,
} from './invocation.ts';
import type { WorkerEvent, WorkerMessage, WorkerStart } from './worker.ts';

/** The time that Lambda gives a function to load, before its timeout starts to count. Source: Lambda quotas, "Init phase". */
const INIT_SECONDS = 10;

/**
 * The memory that a thread may take for new objects before it collects garbage. With Node's default, 48 MB, dozens of threads take
 * gigabytes and do not give them back.
 */
const YOUNG_GENERATION_MB = 16;

/**
 * The worker, compiled to JavaScript once. Node would compile it in each thread, which takes as long as loading the function. The comment
 * names the code in stacks, which would otherwise have the whole URL in each of their lines.
 */
const { code } = transformSync(readFileSync(join(import.meta.dirname, 'worker.ts'), 'utf8'), { loader: 'ts' });
const WORKER = new URL(`data:text/javascript,${encodeURIComponent(`${code}\n//# sourceURL=lambda/worker.ts`)}`);
// Without this, the process and the thread of the compiler would stay, and take 20 MB.
void stop();

/**
 * One execution environment of a function: a thread with its own memory and variables that handles one event at a time and is
 * frozen in between. Whatever the function does, only this thread ends.
 */
export class ExecutionEnvironment {
  readonly #fn: FunctionConfig;
  readonly #onLog: LogListener;
  readonly #worker: Worker;
  /** Memory shared with the thread: see `WorkerStart.freezer`. */
  readonly #freezer = new Int32Array(new SharedArrayBuffer(4));
  #isAlive = true;
  #isReady = false;
  #settle: ((result: InvocationResult) => void) | undefined;
  #whenReady: (() => void) | undefined;

  constructor(fn: FunctionConfig, surroundings: Surroundings, onLog: LogListener) {
    this.#fn = fn;
    this.#onLog = onLog;
    const { codeDirectory, handler, memoryMb } = fn;
    const start: WorkerStart = {
      codeDirectory,
      handler,
      memoryMb,
      functionName: fn.name,
      functionArn: fn.arn,
      freezer: this.#freezer,
    };
    this.#worker = new Worker(WORKER, {
      workerData: start,
      env: { ...functionVariables(fn, surroundings), ...lambdaVariables(fn) },
      // This limits only the heap. Buffers are outside of it, so a function may use more memory here than on AWS.
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
      execArgv: [],
      stdout: true,
      stderr: true,
    });
    forwardLines(this.#worker.stdout, fn.label, onLog);
    forwardLines(this.#worker.stderr, fn.label, onLog);
    this.#worker.on('message', (message: WorkerMessage) => this.#onMessage(message));
    this.#worker.on('error', (error) => this.#onError(error));
    this.#worker.on('exit', (code) => this.#onExit(code));
  }

  /** False when the thread has ended or is ending. Some failures of an event end the thread, others do not. */
  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Runs one event. Never rejects. No other event may be running in this environment. */
  async run(invocation: Invocation): Promise<InvocationResult> {
    const { timeoutSeconds } = this.#fn;
    let timer: NodeJS.Timeout | undefined;
    const settled = new Promise<InvocationResult>((resolve) => {
      this.#settle = resolve;
      const startTimer = (seconds: number) => {
        clearTimeout(timer);
        timer = setTimeout(() => this.#timedOut(invocation.requestId), seconds * 1_000);
      };
      const begin = () => {
        startTimer(timeoutSeconds);
        const { requestId, payload, traceId } = invocation;
        const deadline = Date.now() + timeoutSeconds * 1_000;
        this.#worker.postMessage({ requestId, payload, traceId, deadline } satisfies WorkerEvent);
        this.#thaw();
      };
      if (this.#isReady) begin();
      else {
        startTimer(INIT_SECONDS + timeoutSeconds);
        this.#whenReady = begin;
      }
    });
    const result = await settled;
    clearTimeout(timer);
    if (result.functionError) this.#log(`${invocation.requestId} ERROR ${result.payload}`);
    return result;
  }

  /** Ends the thread and the event that it is running. */
  async kill(): Promise<void> {
    this.#isAlive = false;
    this.#finish(failure('Runtime.ExitError', 'Error: Runtime exited with error: signal: killed'));
    await this.#worker.terminate();
  }

  #thaw(): void {
    Atomics.store(this.#freezer, 0, 0);
    Atomics.notify(this.#freezer, 0);
  }

  #onMessage(message: WorkerMessage): void {
    if (message.type === 'ready') {
      this.#isReady = true;
      this.#whenReady?.();
    } else if (message.type === 'failed') {
      this.#finish(failure(message.errorType, message.errorMessage, message.trace));
      // A function that did not load is loaded in a new thread for the next event.
      if (!this.#isReady) void this.kill();
    } else {
      const bytes = Buffer.byteLength(message.payload);
      this.#finish(
        bytes > RESULT_MAX_BYTES
          ? failure(
              'Function.ResponseSizeTooLarge',
              `Response payload size (${bytes} bytes) exceeded maximum allowed payload size (${RESULT_MAX_BYTES} bytes).`,
            )
          : { payload: message.payload },
      );
    }
  }

  /** Handles an uncaught exception or rejection, and the lack of memory. */
  #onError(error: unknown): void {
    const { code, name, message, stack } = error as Partial<NodeJS.ErrnoException>;
    this.#end(
      code === 'ERR_WORKER_OUT_OF_MEMORY'
        ? failure('Runtime.OutOfMemory', 'Error: Runtime exited with error: signal: killed')
        : failure(name ?? 'Error', message ?? String(error), stack?.split('\n')),
    );
  }

  #onExit(code: number): void {
    this.#end(failure('Runtime.ExitError', `Error: Runtime exited with error: exit status ${code}`));
  }

  #timedOut(requestId: string): void {
    const seconds = this.#fn.timeoutSeconds.toFixed(2);
    this.#end(failure('Sandbox.Timedout', `RequestId: ${requestId} Error: Task timed out after ${seconds} seconds`));
    void this.#worker.terminate();
  }

  #end(result: InvocationResult): void {
    const wasIdle = this.#isAlive && !this.#settle;
    this.#isAlive = false;
    // No caller waits for a result, so only the log can tell.
    if (wasIdle) this.#log(`between two events: ${result.payload}`);
    this.#finish(result);
  }

  #finish(result: InvocationResult): void {
    const settle = this.#settle;
    this.#settle = undefined;
    this.#whenReady = undefined;
    settle?.(result);
  }

  #log(line: string): void {
    this.#onLog({ function: this.#fn.label, line });
  }
}

function lambdaVariables({ name, handler, memoryMb }: FunctionConfig): Record<string, string> {
  return {
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMb),
    AWS_LAMBDA_FUNCTION_NAME: name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${name}`,
    AWS_LAMBDA_LOG_STREAM_NAME: 'local',
    _HANDLER: handler,
  };
}
