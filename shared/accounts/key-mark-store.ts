import type { Deadline } from '../time-limit.ts';

/** An API key, named without its secret. */
export interface KeyReference {
  readonly hash: string;
  readonly id: string;
}

/** The API keys of one account, for the operator. */
export interface KeyMarkStore {
  /** All of them, by strong reads: none that was there at the call is missed. */
  all(accountId: string): AsyncIterable<KeyReference>;
  /**
   * Marks a key as refused, or takes the mark away; harmless twice, and for one that is gone.
   * @returns false, and changes nothing, when the account itself is not suspended (or not restored) any more.
   */
  mark(accountId: string, key: KeyReference, isSuspended: boolean, deadline: Deadline): Promise<boolean>;
}
