import { SESSION_MAX_MS, SESSIONS_PER_ACCOUNT_MAX } from '../limits.ts';
import type { Session } from '../sessions/session.ts';
import { epochSeconds, type Item, readNumbers, readText } from './dynamodb.ts';

/**
 * The row of the sessions table that lists the sessions of one account, so that all of them can be found by one strong
 * read (decision 0016). Every login writes it anew, in the transaction that makes the session. A session that ends stays
 * in it until its 30 days are over: what it names may be gone.
 */
export interface SessionList {
  /** For each session, by the hash of its token, when it ends at the latest, in epoch seconds. */
  readonly ends: ReadonlyMap<string, number>;
  /** The session that was added last. Every login has another one, so it tells one state of the list from any other. */
  readonly newest: string;
}

/** Its key; no token has this hash, because it is not hexadecimal. */
export const listKey = (accountId: string): string => `account#${accountId}`;

export function readList(item: Item): SessionList {
  const ends = Object.entries(readNumbers(item, 'ends') ?? {});
  return { ends: new Map(ends), newest: readText(item, 'newest') };
}

/**
 * The row once a session has been added.
 * @returns also the oldest sessions that are one too many: to be ended by the same transaction.
 */
export function listWith(
  known: SessionList | undefined,
  { tokenHash, accountId, createdAt }: Session,
): { readonly item: Item; readonly tooMany: readonly string[] } {
  const end = epochSeconds(createdAt + SESSION_MAX_MS);
  const lasting = [...(known?.ends ?? [])].filter(([, until]) => until > epochSeconds(createdAt));
  const newestFirst = [[tokenHash, end] as const, ...lasting.toSorted(([, one], [, other]) => other - one)];
  const kept = newestFirst.slice(0, SESSIONS_PER_ACCOUNT_MAX);
  const item: Item = {
    token_hash: listKey(accountId),
    ends: Object.fromEntries(kept),
    newest: tokenHash,
    // By then every session in it has ended.
    expires_at: end,
  };
  return { item, tooMany: newestFirst.slice(SESSIONS_PER_ACCOUNT_MAX).map(([hash]) => hash) };
}

/** The condition that the row is still as it was read. */
export function unlessChanged(known: SessionList | undefined) {
  return known
    ? { ConditionExpression: 'newest = :seen', ExpressionAttributeValues: { ':seen': known.newest } }
    : { ConditionExpression: 'attribute_not_exists(token_hash)' };
}
