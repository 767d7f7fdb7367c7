/** A key as the API shows it. `key` itself, the secret, is only in the answer to its creation. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly key_prefix: string;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** Null until the key was used; then right to the minute. */
  readonly last_used_at: string | null;
}

/** A key as it is kept, under its hash. Times are epoch milliseconds. */
export interface StoredApiKey {
  /** A UUIDv7, so that ids sort by age. */
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly keyPrefix: string;
  readonly createdAt: number;
  readonly lastUsedAt?: number;
  /** Its account is suspended, so it is refused. */
  readonly isSuspended?: true;
}

export function toApiKey({ id, name, keyPrefix, createdAt, lastUsedAt }: StoredApiKey): ApiKey {
  return {
    id,
    name,
    key_prefix: keyPrefix,
    created_at: new Date(createdAt).toISOString(),
    last_used_at: lastUsedAt === undefined ? null : new Date(lastUsedAt).toISOString(),
  };
}
