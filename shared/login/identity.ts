import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify, type RemoteJWKSet } from 'jose';
import { LOGIN_ATTEMPT_MS } from '../contract/limits.ts';
import { EVERYONE } from '../env.ts';
import { uuidv5 } from '../ids.ts';
import { LoginError } from './login-error.ts';
import { isGoogle, issuerSpellings, type LoginProvider } from './provider.ts';

/** A person as the provider describes them. */
interface Identity {
  /** The provider's permanent id of the person. An e-mail address may be given to another person later, but this id may not. */
  readonly subject: string;
  readonly email: string;
  readonly name: string;
  readonly pictureUrl?: string;
  /** The Workspace domain of the account (Google's `hd`), if it has one. */
  readonly hostedDomain?: string;
}

const CLOCK_TOLERANCE_SECONDS = 30;
const KEYS_TIMEOUT_MS = 5_000;

/** The providers' public keys. They are fetched when first needed, kept for ten minutes, and fetched again for an unknown key. */
const keySets = new Map<string, RemoteJWKSet>();

/**
 * Verifies that the provider made an ID token, for us, for this attempt, just now.
 * Source: OpenID Connect Core 1.0, section 3.1.3.7.
 * @throws LoginError `login_failed`, `email_not_verified`, or `unavailable` when the provider's keys cannot be fetched.
 */
export async function verifyIdToken(
  idToken: string,
  { provider, nonce, now }: { provider: LoginProvider; nonce: string; now: number },
): Promise<Identity> {
  const claims = await verifiedClaims(idToken, provider, now);
  if (claims.nonce !== nonce) throw new LoginError('login_failed', 'ID token of another attempt');
  const isForMany = Array.isArray(claims.aud) && claims.aud.length > 1;
  if (claims.azp === undefined ? isForMany : claims.azp !== provider.clientId) {
    throw new LoginError('login_failed', 'ID token made for another client');
  }
  return toIdentity(claims, provider);
}

async function verifiedClaims(idToken: string, provider: LoginProvider, now: number): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(idToken, keysOf(provider), {
      algorithms: ['RS256'],
      issuer: issuerSpellings(provider),
      audience: provider.clientId,
      requiredClaims: ['sub', 'exp'],
      maxTokenAge: LOGIN_ATTEMPT_MS / 1_000,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: new Date(now),
    });
    return payload;
  } catch (error) {
    throw toLoginError(error);
  }
}

function keysOf({ jwksUri }: LoginProvider): RemoteJWKSet {
  const known = keySets.get(jwksUri);
  if (known) return known;
  const keys = createRemoteJWKSet(new URL(jwksUri), { timeoutDuration: KEYS_TIMEOUT_MS });
  keySets.set(jwksUri, keys);
  return keys;
}

function toIdentity({ sub, email, email_verified, name, picture, hd }: JWTPayload, provider: LoginProvider): Identity {
  if (typeof sub !== 'string' || sub === '') throw new LoginError('login_failed', 'ID token without a subject');
  // Exactly `true`: some providers write the text "false".
  if (typeof email !== 'string' || !email.includes('@') || email_verified !== true) {
    throw new LoginError('email_not_verified', 'e-mail address missing or not verified');
  }
  return {
    subject: sub,
    email,
    name: typeof name === 'string' && name !== '' ? name : email,
    ...(isPictureOf(provider, picture) && { pictureUrl: picture }),
    ...(typeof hd === 'string' && { hostedDomain: hd }),
  };
}

/** True for a picture that a page may load: over TLS, or (under `npm start`) from the provider itself. */
function isPictureOf({ issuer }: LoginProvider, picture: unknown): picture is string {
  const url = typeof picture === 'string' ? URL.parse(picture) : null;
  return url !== null && (url.protocol === 'https:' || url.origin === new URL(issuer).origin);
}

/** Leaves out the cause, because jose's errors hold the claims. */
function toLoginError(error: unknown): LoginError {
  const isBadToken = error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout);
  // jose throws an error with its generic code when it cannot fetch or read the provider's keys. The token is not at fault then.
  if (!isBadToken || error.code === errors.JOSEError.code) {
    return new LoginError('unavailable', "the provider's keys cannot be fetched");
  }
  const claim = error instanceof errors.JWTClaimValidationFailed ? ` (${error.claim})` : '';
  return new LoginError('login_failed', `ID token refused: ${error.code}${claim}`);
}

/** Separates account ids from other uses of UUIDv5. A change would give every person a new, empty account. */
const NAMESPACE = 'b1f04be6-6b0c-4f0e-9c5e-0d0a6c2f7f53';

/**
 * The id of a person's account, made of two values that never change: the canonical issuer and the subject. It depends neither on the
 * e-mail address nor on the spelling of the issuer in a token.
 */
export function accountIdOf(issuer: string, subject: string): string {
  // An issuer is an address without spaces, so two pairs of issuer and subject never give the same name.
  return uuidv5(NAMESPACE, `${issuer} ${subject}`);
}

/** The lists of who may log in, in lower case. A person must be on one of them. If both are empty, every login is refused. */
export interface AllowList {
  readonly domains: readonly string[];
  /** The word `everyone` in this list stands for all addresses. */
  readonly emails: readonly string[];
}

/**
 * True when the operator allows this person to log in. An address that is not ASCII is on no list, because other characters become ASCII in
 * lower case: the Kelvin sign is a `k`.
 *
 * If an address is neither in a Workspace domain nor in gmail.com, Google verifies it only once, when the Google account is made. A person
 * who leaves the domain later keeps that account. So a domain on the list admits only the accounts of this Workspace, and gmail.com only its
 * own addresses. Source: Google, "Verify the Google ID token", `email_verified` and `hd`.
 */
export function isAllowed({ email, hostedDomain }: Identity, list: AllowList, provider: LoginProvider): boolean {
  if (list.emails.includes(EVERYONE)) return true;
  if (!isAscii(email + (hostedDomain ?? ''))) return false;
  const address = email.toLowerCase();
  const domain = address.slice(address.lastIndexOf('@') + 1);
  const vouchedFor = !isGoogle(provider) || domain === 'gmail.com' ? domain : hostedDomain?.toLowerCase();
  return list.emails.includes(address) || (vouchedFor !== undefined && list.domains.includes(vouchedFor));
}

const isAscii = (text: string): boolean => /^[!-~]*$/.test(text);
