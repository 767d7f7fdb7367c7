import { createHash } from 'node:crypto';
import type { Account } from 'oidc-provider';

/** What the provider tells of a person; the names are those of OpenID Connect Core, 5.1. */
interface Person {
  readonly sub: string;
  readonly email: string;
  readonly email_verified: boolean;
  readonly name: string;
  readonly picture: string;
}

/** Who has logged in since the start: the provider knows an account by its subject alone. */
export interface Accounts {
  /** @returns the subject. */
  add(email: string): string;
  find(subject: string): Account | undefined;
}

/**
 * Anyone with any address is an account: everything follows from the address, so a restart knows everyone again. An address
 * that starts with `unverified` is one.
 */
export function accountsOf(issuer: string): Accounts {
  const people = new Map<string, Person>();
  return {
    add(email) {
      const sub = subjectOf(email);
      const picture = `${issuer}/picture/${encodeURIComponent(email)}.svg`;
      people.set(sub, { sub, email, email_verified: !email.startsWith('unverified'), name: nameOf(email), picture });
      return sub;
    },
    find(subject) {
      const person = people.get(subject);
      return person && { accountId: subject, claims: () => ({ ...person }) };
    },
  };
}

/** Google's are decimal and up to 21 digits; these too, so that nothing downstream expects less. */
export function subjectOf(email: string): string {
  const digest = createHash('sha256').update(email).digest();
  return (digest.readBigUInt64BE() + 10n ** 20n).toString();
}

/** `ada.lovelace@…` → `Ada Lovelace`. */
function nameOf(email: string): string {
  const words = (email.split('@')[0] ?? '').split(/[._+-]+/).filter((word) => word !== '');
  return words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join(' ');
}

/** Spelled one way, as one person should be one account; undefined when it is no address. */
export function emailFrom(input: string | null): string | undefined {
  const email = (input ?? '').trim().toLowerCase();
  return /^[^\s@]+@[^\s@]+$/.test(email) && email.length <= 254 ? email : undefined;
}
