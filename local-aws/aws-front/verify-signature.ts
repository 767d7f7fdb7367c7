import { type KeyObject, timingSafeEqual } from 'node:crypto';
import { type Authorization, parseTimestamp } from './authorization.ts';
import { canonicalRequest, sha256Hex, signingKey, signText } from './calculate.ts';
import type { Message } from './message.ts';
import { Problem } from './problem.ts';

export interface Expectation {
  readonly secretAccessKey: string;
  readonly region: string;
  /** Hash of the body in hex, or one of the words that stand for it. */
  readonly payloadHash: string;
  /** How far the clocks may be apart. */
  readonly clockSkewSeconds: number;
}

/** What the signatures of the chunks of a body continue. */
export interface SignatureChain {
  readonly key: KeyObject;
  readonly timestamp: string;
  readonly scope: Authorization['scope'];
  /** Hex. */
  readonly seed: string;
}

/**
 * Proves that the holder of the secret signed this very request, lately.
 * @throws Problem `wrong-scope`, `time-skewed`, `expired-url`, `unsigned-header`, `signature-mismatch`.
 */
export function verifySignature(message: Message, given: Authorization, expected: Expectation): SignatureChain {
  const { scope, timestamp, signedHeaders } = given;
  if (scope.region !== expected.region) {
    throw new Problem('wrong-scope', `the region '${scope.region}' is wrong; expecting '${expected.region}'`);
  }
  checkTime(given, expected.clockSkewSeconds);
  checkCoverage(message, signedHeaders);
  const { payloadHash } = expected;
  const key = signingKey(expected.secretAccessKey, scope);
  const canonical = canonicalRequest({ ...message, signedHeaders, payloadHash });
  const signature = signText(key, { timestamp, scope }, sha256Hex(canonical));
  if (!isSameHex(signature, given.signature)) throw new Problem('signature-mismatch', canonical);
  return { key, timestamp, scope, seed: signature };
}

function checkTime({ timestamp, expiresSeconds }: Authorization, clockSkewSeconds: number): void {
  const age = (Date.now() - parseTimestamp(timestamp)) / 1000;
  if (expiresSeconds !== undefined && age > expiresSeconds) throw new Problem('expired-url');
  const isFresh = age >= -clockSkewSeconds && (expiresSeconds !== undefined || age <= clockSkewSeconds);
  if (!isFresh) throw new Problem('time-skewed', `${timestamp} is more than ${clockSkewSeconds} s from now`);
}

/** The host and every header that AWS gives a meaning must be signed, or a thief could add to a request. */
function checkCoverage({ headers }: Message, signedHeaders: readonly string[]): void {
  const required = ['host', ...Object.keys(headers).filter((name) => name.startsWith('x-amz-'))];
  const unsigned = required.filter((name) => !signedHeaders.includes(name));
  if (unsigned.length > 0) throw new Problem('unsigned-header', unsigned.join(', '));
}

/** Compares in a time that says nothing about where they differ. */
export function isSameHex(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
