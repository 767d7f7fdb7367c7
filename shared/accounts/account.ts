/** Whose files they are: a person who logged in once, and the books of what they store. */
export interface Account {
  /** UUIDv5 of the identity's issuer and `sub`. */
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly pictureUrl?: string;
  /** Epoch milliseconds of the first login. */
  readonly createdAt: number;
  /** Bytes of ready files and of live reservations. */
  readonly storageUsedBytes: number;
  /** Ready files. */
  readonly fileCount: number;
  /** Ready files by listing group (see `shared/files/listing-counters.ts`); a group without files may be absent. */
  readonly groups: ReadonlyMap<number, number>;
  /** Bytes sent on the last UTC day (in days since 1970) on which any were; absent before the first. */
  readonly sent?: { readonly day: number; readonly bytes: number };
  /** The operator's exception for this account, in bytes. */
  readonly storageLimitBytes?: number;
  /** True when the operator closed the account: its keys and sessions are refused. */
  readonly isSuspended: boolean;
}

/** Who somebody is, as the identity provider says at login. */
export interface Profile {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly pictureUrl?: string;
}

/** How many bytes an account may store: the operator's exception for it, else everybody's limit. */
export function storageLimitOf(account: Pick<Account, 'storageLimitBytes'>, defaultBytes: number): number {
  return account.storageLimitBytes ?? defaultBytes;
}
