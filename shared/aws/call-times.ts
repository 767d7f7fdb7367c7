import { DATABASE_CALL_MS } from '../time-limit.ts';

/** How many times the SDK attempts a call. After a lost connection, a throttled call or a failure of AWS it tries again within a second. */
export const ATTEMPTS = 3;

/**
 * How long one attempt of a call may take, in milliseconds, from its first byte to the beginning of its answer. An attempt usually takes
 * far less, so an attempt that takes longer has probably been lost. Every function that makes the call has time for {@link ATTEMPTS}
 * attempts of this length (test/infra/stacks/call-times.test.ts).
 */
export const CALL_MS = {
  /** DynamoDB, Secrets Manager, Systems Manager: they usually take single-digit milliseconds. */
  database: DATABASE_CALL_MS,
  /** S3, for all calls that are not named below, such as HEAD, DELETE, and a PUT of at most one part (5 MiB). */
  object: 4_000,
  /** S3, for a part of a streaming upload, and for making one object of all parts, which takes longer than a small object. */
  part: 12_000,
  /** S3, for a copy inside the bucket. */
  copy: 5_000,
} as const;

/** How long opening a connection may take. TCP sends a lost first packet again after a second. */
const CONNECT_MS = 3_000;

/** The settings of a client: how often it tries, and for how long unless a call sets another time. */
export function callSettings(timeoutMs: number) {
  // Without `throwOnRequestTimeout` the SDK only prints a warning and goes on waiting.
  return {
    maxAttempts: ATTEMPTS,
    requestHandler: { connectionTimeout: CONNECT_MS, requestTimeout: timeoutMs, throwOnRequestTimeout: true },
  };
}
