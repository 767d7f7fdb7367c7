import type { Identity } from './identity.ts';
import { isGoogle, type LoginProvider } from './provider.ts';

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
