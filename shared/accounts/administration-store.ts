/** What the operator alone does with accounts; no function has these grants. */
export interface AdministrationStore {
  /** The ids of all accounts with this e-mail address, in upper or lower case. Reads the whole table. */
  idsOfEmail(email: string): Promise<string[]>;
  /** From here on nothing is added to the account: no key, no session, no file. @returns false when it is not there. */
  suspend(id: string): Promise<boolean>;
  /** From here on it may be added to again. A deletion that has begun is not taken back. */
  restore(id: string): Promise<'restored' | 'being deleted' | 'absent'>;
  /** @param bytes  undefined takes the exception away. @returns false when the account is not there. */
  setStorageLimit(id: string, bytes: number | undefined): Promise<boolean>;
  /** Suspends the account for good. @returns false when it is not there. */
  beginDeletion(id: string): Promise<boolean>;
  /** Removes what is kept besides files, keys and sessions: listing counters, remembered `Idempotency-Key`s. */
  removeRecords(id: string): Promise<void>;
  /** Removes the account, if its deletion has begun. */
  remove(id: string): Promise<void>;
}
