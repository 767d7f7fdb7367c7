import { createHash } from 'node:crypto';
import type { Account } from 'oidc-provider';

/** The claims about a user, with the names of OpenID Connect Core, 5.1. */
interface User {
  readonly sub: string;
  readonly email: string;
  readonly email_verified: boolean;
  readonly name: string;
  readonly picture: string;
}

/** The users who have logged in since the start, by subject. */
export interface Accounts {
  /** @returns the subject. */
  add(email: string): string;
  find(subject: string): Account | undefined;
}

/**
 * Any e-mail address is an account. Everything is derived from the address, so accounts stay the same over restarts. An address
 * that starts with `unverified` is not verified.
 */
export function accountsOf(issuer: string): Accounts {
  const users = new Map<string, User>();
  return {
    add(email) {
      const sub = subjectOf(email);
      const picture = `${issuer}/picture/${encodeURIComponent(email)}.svg`;
      users.set(sub, { sub, email, email_verified: !email.startsWith('unverified'), name: nameOf(email), picture });
      return sub;
    },
    find(subject) {
      const user = users.get(subject);
      return user && { accountId: subject, claims: () => ({ ...user }) };
    },
  };
}

/** Google's subjects are decimal with up to 21 digits. These are, too, so that no reader relies on shorter ones. */
export function subjectOf(email: string): string {
  const digest = createHash('sha256').update(email).digest();
  return (digest.readBigUInt64BE() + 10n ** 20n).toString();
}

/** Makes a name from an address: `Ada Lovelace` from `ada.lovelace@…`. */
function nameOf(email: string): string {
  const words = (email.split('@')[0] ?? '').split(/[._+-]+/).filter((word) => word !== '');
  return words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join(' ');
}

/** Normalises an address, so that one user has one account. @returns undefined when it is not an address. */
export function emailFrom(input: string | null): string | undefined {
  const email = (input ?? '').trim().toLowerCase();
  return /^[^\s@]+@[^\s@]+$/.test(email) && email.length <= 254 ? email : undefined;
}
