import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** One event for a function. */
export interface Invocation {
  readonly requestId: string;
  /** The event as JSON. */
  readonly payload: string;
  /** X-Ray's trace header (`Root=…`). The SDK sends it with every call, so that the front's meter can attribute the call. */
  readonly traceId: string;
}

/** The result of a function, or its failure. */
export interface InvocationResult {
  /** The result as JSON; after a failure `{errorType, errorMessage, trace?}`. */
  readonly payload: string;
  /** Set when the function failed: it could not be loaded, threw, ended, took too long, or returned too much. */
  readonly functionError?: 'Unhandled';
}

/** Lambda did not run the function. */
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

/** Called with every line that a function writes, and with what the local AWS reports about the function. */
export type LogListener = (entry: { readonly function: string; readonly line: string }) => void;

/** Passes a stream on line by line, including a last line without a line break. */
export function forwardLines(stream: Readable | null, label: string, onLog: LogListener): void {
  if (!stream) return;
  const lines = createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY });
  lines.on('line', (line) => onLog({ function: label, line }));
}

/** A new trace, not sampled. Source: X-Ray Developer Guide, "Tracing header". */
export function newTraceId(): string {
  const seconds = Math.floor(Date.now() / 1_000).toString(16);
  return `Root=1-${seconds}-${randomBytes(12).toString('hex')};Parent=${randomBytes(8).toString('hex')};Sampled=0`;
}
