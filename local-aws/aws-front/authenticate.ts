import { timingSafeEqual } from 'node:crypto';
import { type Authorization, readAuthorization } from './authorization.ts';
import type { Message } from './message.ts';
import { type Account, ANONYMOUS, type Caller, type Principal } from './principals.ts';
import { Problem } from './problem.ts';
import { expectedSignature, parseTimestamp } from './signature.ts';

/** A signature that was verified. */
export interface Signed extends Pick<Authorization, 'place'> {
  readonly ageMilliseconds: number;
  /** The hash of the body that was signed, or a word in its place, such as `UNSIGNED-PAYLOAD`. */
  readonly payloadHash: string;
}

export interface Identity {
  readonly caller: Caller;
  /** The signature; absent when the request was not signed. */
  readonly signed?: Signed;
}

/**
 * Finds out who sent a request, and checks that the holder of the secret signed this very request recently.
 * @param options  `payloadHash` gives the hash of the body that must have been signed, or the word in its place.
 * @throws Problem `unknown-access-key`, `invalid-token`, `wrong-scope`, `time-skewed`, `expired-url`, `unsigned-header`,
 *   `signature-mismatch`, those of {@link readAuthorization}, and the errors of `payloadHash`.
 */
export function authenticate(
  message: Message,
  options: {
    readonly principals: ReadonlyMap<string, Principal>;
    readonly account: Account;
    /** How far the clocks may be apart. */
    readonly clockSkewSeconds: number;
    readonly payloadHash: (authorization: Authorization) => string;
  },
): Identity {
  const authorization = readAuthorization(message);
  if (!authorization) return { caller: ANONYMOUS };
  const caller = findCaller(authorization, options.principals);
  const payloadHash = options.payloadHash(authorization);
  const { scope, timestamp, signedHeaders, place } = authorization;
  if (scope.region !== options.account.region) {
    throw new Problem('wrong-scope', `the region '${scope.region}' is wrong; expecting '${options.account.region}'`);
  }
  checkTime(authorization, options.clockSkewSeconds);
  checkCoverage(message, signedHeaders);
  const expected = expectedSignature(message, caller, { scope, timestamp, signedHeaders, payloadHash });
  if (!isSameHex(expected.signature, authorization.signature)) {
    throw new Problem('signature-mismatch', expected.canonicalRequest);
  }
  return { caller, signed: { place, ageMilliseconds: Date.now() - parseTimestamp(timestamp), payloadHash } };
}

/**
 * Finds the owner of the access key. Without its session token AWS does not know a temporary key, and with another token it refuses any key.
 * Source: reports of `InvalidAccessKeyId` for a forgotten token (ex-aws/ex_aws #37, MathieuLoutre/grunt-aws-s3 #38), and of `InvalidToken`
 * (s3tools/s3cmd #297, aws/aws-sdk-js #4129).
 */
function findCaller(
  { accessKeyId, sessionToken }: Authorization,
  principals: ReadonlyMap<string, Principal>,
): Principal {
  const caller = principals.get(accessKeyId);
  const isForgotten = caller?.sessionToken !== undefined && sessionToken === undefined;
  if (!caller || isForgotten) throw new Problem('unknown-access-key');
  if (sessionToken !== caller.sessionToken) throw new Problem('invalid-token');
  return caller;
}

function checkTime({ timestamp, expiresSeconds }: Authorization, clockSkewSeconds: number): void {
  const age = (Date.now() - parseTimestamp(timestamp)) / 1000;
  if (expiresSeconds !== undefined && age > expiresSeconds) throw new Problem('expired-url');
  const isFresh = age >= -clockSkewSeconds && (expiresSeconds !== undefined || age <= clockSkewSeconds);
  if (!isFresh) throw new Problem('time-skewed', `${timestamp} is more than ${clockSkewSeconds} s from now`);
}

/** The host and every `x-amz-` header must be signed; otherwise someone who stole a signed request could change them. */
function checkCoverage({ headers }: Message, signedHeaders: readonly string[]): void {
  const required = ['host', ...Object.keys(headers).filter((name) => name.startsWith('x-amz-'))];
  const unsigned = required.filter((name) => !signedHeaders.includes(name));
  if (unsigned.length > 0) throw new Problem('unsigned-header', unsigned.join(', '));
}

/** Takes the same time wherever the two texts differ, so that the time does not help to guess a signature. */
function isSameHex(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
