import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** One event on its way through a function. */
export interface Invocation {
  readonly requestId: string;
  /** JSON. */
  readonly payload: string;
  /** `Root=…` of X-Ray; the SDK sends it on with every call, so that the AWS front knows what it serves. */
  readonly traceId: string;
}

/** What became of an event: the function's result, or how the function failed. */
export interface InvocationResult {
  /** JSON: the result, or `{errorType, errorMessage, trace?}`. */
  readonly payload: string;
  /** Set when the function failed: by throwing, by ending, or by taking too long. */
  readonly functionError?: 'Unhandled';
}

/** Lambda did not run the function at all. */
export class InvocationRefused extends Error {
  readonly code: 'AccessDenied' | 'RequestTooLarge' | 'ResourceNotFound' | 'TooManyRequests';

  constructor(code: InvocationRefused['code'], message: string) {
    super(message);
    this.name = 'InvocationRefused';
    this.code = code;
  }
}

/**
 * The longest event and result of a synchronous invocation, in bytes.
 * Source: Lambda quotas; the 100 bytes were measured on AWS by others.
 */
export const PAYLOAD_MAX_BYTES = 6 * 1024 * 1024;
export const RESULT_MAX_BYTES = PAYLOAD_MAX_BYTES + 100;

/** The longest event of an asynchronous invocation, in bytes. Source: Lambda quotas. */
export const ASYNC_PAYLOAD_MAX_BYTES = 1024 * 1024;

export function failure(errorType: string, errorMessage: string, trace?: readonly string[]): InvocationResult {
  return { payload: JSON.stringify({ errorType, errorMessage, trace }), functionError: 'Unhandled' };
}

/** Hears of every line a function writes, and of what the local environment says of the function. */
export type LogListener = (entry: { readonly function: string; readonly line: string }) => void;

/** Passes on a stream line by line, the last one also when it has no end. */
export function forwardLines(stream: Readable | null, label: string, onLog: LogListener): void {
  if (!stream) return;
  const lines = createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY });
  lines.on('line', (line) => onLog({ function: label, line }));
}

/** A trace of its own, not sampled. Source: X-Ray Developer Guide, "Tracing header". */
export function newTraceId(): string {
  const seconds = Math.floor(Date.now() / 1_000).toString(16);
  return `Root=1-${seconds}-${randomBytes(12).toString('hex')};Parent=${randomBytes(8).toString('hex')};Sampled=0`;
}
