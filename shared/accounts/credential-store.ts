import type { Deadline } from '../files/settlement-store.ts';

/** Something that authenticates, named without its secret. */
export type Credential =
  | { readonly kind: 'key'; readonly hash: string; readonly id: string }
  | { readonly kind: 'session'; readonly hash: string };

/** Everything that authenticates as one account, for the operator. */
export interface CredentialStore {
  /**
   * All of them, by strong reads: none that was there at the call is missed. (For sessions that reads their whole table:
   * its index by account is a moment behind, and a session missed at a suspension would live on.)
   */
  all(accountId: string): AsyncIterable<Credential>;
  /**
   * Marks a credential as refused, or takes the mark away; harmless twice, and for one that is gone.
   * @returns false, and changes nothing, when the account itself is not suspended (or not restored) any more.
   */
  mark(accountId: string, credential: Credential, isSuspended: boolean, deadline: Deadline): Promise<boolean>;
  /** How many sessions have not ended, as far as the index by account knows. @param now  epoch milliseconds. */
  countLiveSessions(accountId: string, now: number): Promise<number>;
}
