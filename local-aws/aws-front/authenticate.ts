import { type Authorization, parseTimestamp, readAuthorization } from './authorization.ts';
import type { Message } from './message.ts';
import { type Account, ANONYMOUS, type Caller, type Principal } from './principals.ts';
import { Problem } from './problem.ts';
import { type SignatureChain, verifySignature } from './verify-signature.ts';

/** A signature that holds. */
export interface Signed extends Pick<Authorization, 'place'> {
  readonly ageMilliseconds: number;
  readonly payloadHash: string;
  readonly chain: SignatureChain;
}

export interface Identity {
  readonly caller: Caller;
  /** Absent: the request was not signed. */
  readonly signed?: Signed;
}

/**
 * Who sent the request.
 * @param payloadHash  what the signature must cover of the body.
 * @throws Problem for a signature that is not whole, not timely or not that of a principal we know.
 */
export function authenticate(
  message: Message,
  options: {
    principals: ReadonlyMap<string, Principal>;
    account: Account;
    clockSkewSeconds: number;
    payloadHash: (authorization: Authorization) => string;
  },
): Identity {
  const authorization = readAuthorization(message);
  if (!authorization) return { caller: ANONYMOUS };
  const principal = options.principals.get(authorization.accessKeyId);
  if (!principal) throw new Problem('unknown-access-key');
  if (authorization.sessionToken !== principal.sessionToken) throw new Problem('invalid-token');
  if (principal.expiresAt && principal.expiresAt.getTime() <= Date.now()) throw new Problem('expired-token');
  const payloadHash = options.payloadHash(authorization);
  const chain = verifySignature(message, authorization, {
    secretAccessKey: principal.secretAccessKey,
    region: options.account.region,
    clockSkewSeconds: options.clockSkewSeconds,
    payloadHash,
  });
  const ageMilliseconds = Date.now() - parseTimestamp(authorization.timestamp);
  return { caller: principal, signed: { place: authorization.place, ageMilliseconds, payloadHash, chain } };
}
