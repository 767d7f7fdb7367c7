import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify, type RemoteJWKSet } from 'jose';
import { uuidv5 } from '../ids.ts';
import { LOGIN_ATTEMPT_MS } from '../limits.ts';
import { LoginError } from './login-error.ts';
import { isGoogle, issuerSpellings, type LoginProvider } from './provider.ts';

/** Who logged in, by the word of the provider. */
interface Identity {
  /** The provider's lasting name for the person; an e-mail address may change hands, this does not. */
  readonly subject: string;
  readonly email: string;
  readonly name: string;
  readonly pictureUrl?: string;
  /** True when the address belongs to an organisation that has its accounts with the provider (Google's `hd`). */
  readonly isHosted: boolean;
}

const CLOCK_TOLERANCE_SECONDS = 30;
const KEYS_TIMEOUT_MS = 5_000;

/** The providers' public keys, fetched when first needed, kept ten minutes, and fetched anew for an unknown key. */
const keySets = new Map<string, RemoteJWKSet>();

/**
 * The identity in an ID token that was made by the provider, for us, for this attempt, just now.
 * Source: OpenID Connect Core 1.0, section 3.1.3.7.
 * @throws LoginError `login_failed`, `email_not_verified`, or `unavailable` when the provider's keys cannot be had.
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
  // `true` and nothing like it: some providers write the text "false".
  if (typeof email !== 'string' || !email.includes('@') || email_verified !== true) {
    throw new LoginError('email_not_verified', 'e-mail address missing or not verified');
  }
  return {
    subject: sub,
    email,
    name: typeof name === 'string' && name !== '' ? name : email,
    ...(isPictureOf(provider, picture) && { pictureUrl: picture }),
    isHosted: typeof hd === 'string' && hd !== '',
  };
}

/** An address a page may show: over TLS, or (on one machine) the provider's own. */
function isPictureOf({ issuer }: LoginProvider, picture: unknown): picture is string {
  const url = typeof picture === 'string' ? URL.parse(picture) : null;
  return url !== null && (url.protocol === 'https:' || url.origin === new URL(issuer).origin);
}

/** Without the cause: jose's errors carry the claims. */
function toLoginError(error: unknown): LoginError {
  const isBadToken = error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout);
  // A generic one is the answer of the keys' address, not the token.
  if (!isBadToken || error.code === errors.JOSEError.code) {
    return new LoginError('unavailable', "the provider's keys cannot be had");
  }
  const claim = error instanceof errors.JWTClaimValidationFailed ? ` (${error.claim})` : '';
  return new LoginError('login_failed', `ID token refused: ${error.code}${claim}`);
}

/** Tells account ids from other uses of UUIDv5. Changing it would give everybody a new, empty account. */
const NAMESPACE = 'b1f04be6-6b0c-4f0e-9c5e-0d0a6c2f7f53';

/**
 * The account of a person, by what never changes: the provider's one name and its name for the person. Neither the
 * e-mail address nor the way the provider spells itself plays a part.
 */
export function accountIdOf(issuer: string, subject: string): string {
  // An issuer is an address and has no space, so no two pairs make one name.
  return uuidv5(NAMESPACE, `${issuer} ${subject}`);
}

/** Who may log in; both lower-case. Both empty: everybody. Otherwise whoever is on either. */
export interface AllowList {
  readonly domains: readonly string[];
  readonly emails: readonly string[];
}

/**
 * True when the operator lets this person in.
 *
 * Google verifies the address of an account of another domain only once, when the account is made: who has left the
 * domain since keeps it. So a domain lets in only those that Google answers for: Workspace accounts and gmail.com.
 * Source: Google, "Verify the Google ID token", `email_verified` and `hd`.
 */
export function isAllowed({ email, isHosted }: Identity, list: AllowList, provider: LoginProvider): boolean {
  if (list.domains.length === 0 && list.emails.length === 0) return true;
  const address = email.toLowerCase();
  const domain = address.slice(address.lastIndexOf('@') + 1);
  const isAnsweredFor = !isGoogle(provider) || isHosted || domain === 'gmail.com';
  return list.emails.includes(address) || (isAnsweredFor && list.domains.includes(domain));
}
