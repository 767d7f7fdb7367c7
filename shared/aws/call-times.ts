import { DATABASE_CALL_MS } from '../time-limit.ts';

/** Attempts of a call, by the SDK: a lost connection, a throttle or a failure of AWS is tried again within a second. */
export const ATTEMPTS = 3;

/**
 * How long one attempt of a call may take, in milliseconds, from its first byte to the beginning of its answer: well beyond
 * what it takes as a rule, so that it is lost when it takes longer, and short enough for {@link ATTEMPTS} of them to fit
 * into whatever makes the call (test/infra/stacks/call-times.test.ts).
 */
export const CALL_MS = {
  /** DynamoDB, Secrets Manager, Systems Manager: single-digit milliseconds as a rule. */
  database: DATABASE_CALL_MS,
  /** S3, for one small object: its head, its removal, and its bytes when they came in one event (at most a part). */
  object: 4_000,
  /**
   * S3, for a part of a streaming upload, and for making one object of all parts. Nothing renews the upload's lease
   * meanwhile, so all attempts fit into what is left of it at the worst.
   */
  part: 12_000,
  /** S3, for a copy in the bucket. */
  copy: 5_000,
} as const;

/** For a connection alone: TCP tries a lost first packet again after a second. */
const CONNECT_MS = 3_000;

/** Settings of a client: how often it tries, and for how long unless a call says otherwise. */
export function callSettings(timeoutMs: number, maxAttempts = ATTEMPTS) {
  // Without `throwOnRequestTimeout` the SDK only prints a warning and waits.
  return {
    maxAttempts,
    requestHandler: { connectionTimeout: CONNECT_MS, requestTimeout: timeoutMs, throwOnRequestTimeout: true },
  };
}
