import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify, type RemoteJWKSet } from 'jose';
import { LOGIN_ATTEMPT_SECONDS } from '../limits.ts';
import { LoginError } from './login-error.ts';
import { issuerSpellings, type LoginProvider } from './provider.ts';

/** Who logged in, by the word of the provider. */
export interface Identity {
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
      maxTokenAge: LOGIN_ATTEMPT_SECONDS,
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
