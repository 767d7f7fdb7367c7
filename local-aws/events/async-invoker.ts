import { randomUUID } from 'node:crypto';
import { ASYNC_PAYLOAD_MAX_BYTES, InvocationRefused, type LogListener } from '../lambda/invocation.ts';
import type { InvokeRequest, Invoker, LambdaService } from '../lambda/lambda-service.ts';
import type { Deployment } from '../template/deployment.ts';
import { readProperties } from '../template/read-properties.ts';
import type { EventQueue, QueuedEvent } from './event-queue.ts';

/** How often an event is retried when its function fails, and where it is sent in the end. */
interface InvokeConfig {
  readonly retries: number;
  /** An older event is not retried. */
  readonly maxAgeSeconds: number;
  /** The ARN of the destination of failed events. */
  readonly destination?: string;
}

/** Lambda's defaults. */
const INVOKE_DEFAULTS: InvokeConfig = { retries: 2, maxAgeSeconds: 6 * 3_600 };

/** Reads `AWS::Lambda::EventInvokeConfig`, by the ARN of the function. */
export function readInvokeConfigs(deployment: Deployment): ReadonlyMap<string, InvokeConfig> {
  const functions = deployment.resources('AWS::Lambda::Function');
  return new Map(
    deployment.resources('AWS::Lambda::EventInvokeConfig').map((resource) =>
      readProperties(resource.logicalId, resource.properties(), (take) => {
        const name = take<string>('FunctionName');
        const fn = functions.find(({ ref }) => ref === name);
        if (!fn) throw new Error(`${resource.logicalId}: there is no function ${name}`);
        const qualifier = take<string>('Qualifier');
        if (qualifier !== '$LATEST') throw new Error(`${resource.logicalId}: the local AWS has no versions or aliases`);
        const { OnFailure } = take<{ OnFailure?: { Destination: string } }>('DestinationConfig', {});
        const config: InvokeConfig = {
          retries: Number(take('MaximumRetryAttempts', INVOKE_DEFAULTS.retries)),
          maxAgeSeconds: Number(take('MaximumEventAgeInSeconds', INVOKE_DEFAULTS.maxAgeSeconds)),
          ...(OnFailure && { destination: OnFailure.Destination }),
        };
        return [fn.attribute('Arn'), config] as const;
      }),
    ),
  );
}

/** An event that was given up: its function failed at every try, Lambda refused it, or it became too old. */
interface FailedEvent {
  readonly functionArn: string;
  readonly payload: string;
  /** How often it was handed to Lambda, without the times when it was throttled. */
  readonly attempts: number;
  /** The last error. */
  readonly failure: string;
  /** The destination in the template. The event is recorded here and not sent there. */
  readonly destination?: string;
}

export interface AsyncInvoker {
  /** Queues an event for a function and returns at once. */
  send(functionArn: string, payload: string, invoker: Invoker): void;
  /** Delivers the events that an earlier process has left in the queue, maybe a second time, as AWS may do with any event. */
  resume(): void;
  /** Resolves when no event is running or waiting for a retry. */
  idle(): Promise<void>;
  readonly failed: readonly FailedEvent[];
  /** Delivers nothing more. What was not handled yet stays in the queue. */
  close(): void;
}

/**
 * How long Lambda waits before the second and before the third try.
 * Source: Lambda Developer Guide, "Error handling for asynchronous invocation".
 */
const RETRY_DELAYS_MS = [60_000, 120_000];

/**
 * A throttled event goes back to the queue, at first for a second, then longer each time, until it is too old. Being throttled
 * does not count as a try. Source: as above, "Error handling".
 */
const THROTTLED = { firstMs: 1_000, longestMs: 300_000 };

/** Asynchronous invocation: keeps an event in the queue until it is handled, retries an event when its function fails, and in the end records it as failed. */
export function createAsyncInvoker(options: {
  readonly lambda: LambdaService;
  readonly configs: ReadonlyMap<string, InvokeConfig>;
  readonly queue: EventQueue;
  readonly onLog: LogListener;
  /** The delays between the tries. Tests make them short. */
  readonly retryDelaysMs?: readonly number[];
}): AsyncInvoker {
  const { lambda, configs, queue, onLog, retryDelaysMs = RETRY_DELAYS_MS } = options;
  const failed: FailedEvent[] = [];
  const running = new Set<Promise<void>>();
  const closing = new AbortController();

  const deliver = async ({ functionArn, payload, invoker, requestId }: QueuedEvent) => {
    const { retries, maxAgeSeconds, destination } = configs.get(functionArn) ?? INVOKE_DEFAULTS;
    const tooOldAt = performance.now() + maxAgeSeconds * 1_000;
    let outcome: Outcome;
    let [attempts, throttles] = [0, 0];
    for (;;) {
      outcome = await tryOnce(lambda, { functionArn, payload, invoker, requestId });
      if (outcome === 'throttled') throttles += 1;
      else attempts += 1;
      if (outcome !== 'throttled' && outcome.failure === '') break;
      if (closing.signal.aborted) return;
      if (outcome !== 'throttled' && (outcome.isFinal || attempts > retries)) break;
      const delayMs =
        outcome === 'throttled'
          ? Math.min(THROTTLED.longestMs, THROTTLED.firstMs * 2 ** (throttles - 1))
          : (retryDelaysMs[attempts - 1] ?? retryDelaysMs.at(-1) ?? 0);
      if (performance.now() + delayMs > tooOldAt) break;
      await pause(delayMs, closing.signal);
      if (closing.signal.aborted) return;
    }
    queue.remove(requestId);
    const failure = outcome === 'throttled' ? 'the event is too old' : outcome.failure;
    if (failure === '') return;
    failed.push({ functionArn, payload, attempts, failure, ...(destination && { destination }) });
    onLog({ function: lambda.find(functionArn).label, line: `gave up on event ${requestId}: ${failure}` });
  };

  const start = (event: QueuedEvent) => {
    const delivery = deliver(event).finally(() => running.delete(delivery));
    running.add(delivery);
  };

  return {
    send(functionArn, payload, invoker) {
      const event = { requestId: randomUUID(), functionArn, payload, invoker };
      try {
        queue.add(event);
      } catch (error) {
        // On a full disk, the event is only in memory.
        onLog({ function: lambda.find(functionArn).label, line: `event ${event.requestId} is not on disk: ${error}` });
      }
      start(event);
    },
    resume() {
      for (const event of queue.former) {
        if (lambda.has(event.functionArn)) start(event);
        else queue.remove(event.requestId);
      }
    },
    async idle() {
      while (running.size > 0) await Promise.all(running);
    },
    failed,
    close: () => closing.abort(),
  };
}

type Outcome =
  | 'throttled'
  | {
      /** The error; empty when the function succeeded. */
      readonly failure: string;
      /** Whether a retry is useless. */
      readonly isFinal: boolean;
    };

async function tryOnce(lambda: LambdaService, request: InvokeRequest): Promise<Outcome> {
  if (Buffer.byteLength(request.payload) > ASYNC_PAYLOAD_MAX_BYTES) {
    return { failure: 'the event is too large', isFinal: true };
  }
  try {
    const { functionError, payload } = await lambda.invoke(request);
    return functionError ? { failure: payload, isFinal: false } : { failure: '', isFinal: true };
  } catch (error) {
    if (!(error instanceof InvocationRefused)) throw error;
    if (error.code === 'TooManyRequests') return 'throttled';
    return { failure: `${error.code}: ${error.message}`, isFinal: true };
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
