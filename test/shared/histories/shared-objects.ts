import fc from 'fast-check';
import { expect } from 'vitest';
import { FAULTS, type Fault } from '../files/faults.ts';
import type { Answer } from './access.ts';
import { LIMITS } from './limits.ts';
import { type Call, isLinearizable, type Sequential } from './linearizability.ts';
import type { Request, World } from './world.ts';

type Send = (name: Parameters<World['request']>[0], request: Omit<Request, 'credential' | 'query'>) => Promise<Answer>;

/** How clients of an account send requests: to the functions in this process, or through HTTP. */
export interface Account {
  readonly byKey: Send;
  readonly bySession: Send;
}

/** What clients ask of one account at the same time. */
export interface Asked {
  readonly do:
    | 'upload'
    | 'delete'
    | 'list'
    | 'usage'
    | 'revoke'
    | 'get'
    | 'complete'
    | 'cancel'
    | 'event of the bucket'
    | 'delete another';
  /** Of the file; `key` is the key that the clients send. */
  readonly name: string;
  readonly size: number;
  /** The `Idempotency-Key`. */
  readonly key?: string;
}

/** What an answer says. */
export interface Told {
  readonly status: number;
  readonly id?: string;
  readonly total?: number;
  readonly usedBytes?: number;
  /** How many requests are left, by `RateLimit`. */
  readonly left?: number;
}

/** An object that promises to be linearizable, and what clients do with it. */
export interface Shared<State> extends Sequential<State, Asked, Told> {
  /** The faults that calls may have; all if it is absent. */
  readonly faults?: readonly Fault[];
  readonly asked: fc.Arbitrary<Asked>;
  /** The ids of what is there before, by name. */
  prepare?(account: Account): Promise<Ids>;
  /** Calls whose answers say nothing about the object. */
  ignores?(told: Told): boolean;
}

type Ids = Record<string, string[]>;

const ask = (one: Partial<Asked> & Pick<Asked, 'do'>) => fc.constant({ name: 'a', size: 1, ...one });
const files = fc.constantFrom('a', 'b', 'c', 'd');
const isUnadmitted = ({ status }: Told) => status === 429 || status === 401;

/** Files by name: an upload adds one, and a deletion removes one. Deletions ask for ids that uploads have given. */
interface Files {
  readonly used: number;
  readonly ids: readonly string[];
}

/** The storage of an account: uploads are refused exactly when they do not fit. */
const quota: Shared<Files & { sizes: Record<string, number> }> = {
  initial: { used: 0, ids: [], sizes: {} },
  asked: fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ do: fc.constant('upload' as const), name: files, size: fc.constantFrom(8, 9) }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('delete' as const), name: files, size: fc.constant(0) }) },
    { weight: 2, arbitrary: ask({ do: 'usage' }) },
  ),
  ignores: isUnadmitted,
  next(state, { do: what, size, name }, told) {
    const { used, ids, sizes } = state;
    if (what === 'usage') return !told || told.usedBytes === used ? state : undefined;
    if (what === 'upload') {
      const fits = used + size <= LIMITS.STORAGE_LIMIT_BYTES && ids.length < LIMITS.FILE_COUNT_LIMIT;
      if (told?.status === 403) return fits ? undefined : state;
      // The id of an upload whose answer is lost is unknown, so nobody deletes its file.
      const id = told?.id ?? `unknown ${ids.length}`;
      if (!fits) return told ? undefined : state;
      return { used: used + size, ids: [...ids, id].sort(), sizes: { ...sizes, [id]: size } };
    }
    const isThere = ids.includes(name);
    if (told && told.status !== (isThere ? 200 : 404)) return undefined;
    if (!isThere) return state;
    return { used: used - (sizes[name] ?? 0), ids: ids.filter((id) => id !== name), sizes };
  },
};

/** `total` counts every file, from the answer of its upload to that of its deletion. */
const total: Shared<readonly string[]> = {
  initial: [],
  asked: fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('upload' as const), name: files, size: fc.constant(1) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('delete' as const), name: files, size: fc.constant(0) }) },
    { weight: 4, arbitrary: ask({ do: 'list' }) },
  ),
  ignores: (told) => isUnadmitted(told) || told.status === 403,
  next(ids, { do: what, name }, told) {
    if (what === 'list') return !told || told.total === ids.length ? ids : undefined;
    if (what === 'upload') return [...ids, told?.id ?? `unknown ${ids.length}`].sort();
    const isThere = ids.includes(name);
    if (told && told.status !== (isThere ? 200 : 404)) return undefined;
    return ids.filter((id) => id !== name);
  },
};

/** A key works until it is revoked, and never again. */
const revocation: Shared<boolean> = {
  initial: true,
  async prepare({ bySession }) {
    const { body } = await bySession('listApiKeys', {});
    return { key: [body.items[0].id] };
  },
  asked: fc.oneof(
    { weight: 4, arbitrary: ask({ do: 'usage' }) },
    { weight: 1, arbitrary: ask({ do: 'revoke', name: 'key' }) },
  ),
  ignores: ({ status }) => status === 429,
  next(isValid, { do: what }, told) {
    if (what === 'usage') return !told || told.status === (isValid ? 200 : 401) ? isValid : undefined;
    return !told || told.status === (isValid ? 200 : 404) ? false : undefined;
  },
};

/** In a minute, exactly the limit is admitted, and each answer says how many are left. */
const limiter: Shared<number> = {
  initial: LIMITS.RATE_LIMIT_LISTS_PER_MINUTE,
  asked: ask({ do: 'list' }),
  // A write that the network repeats late is counted twice (as in I14, no more than the limit is admitted, but one less may be).
  faults: FAULTS.filter((fault) => fault !== 'happens again late'),
  next(left, _, told) {
    if (!told) return Math.max(0, left - 1);
    if (told.status === 429) return left === 0 ? left : undefined;
    return left > 0 && told.left === left - 1 ? left - 1 : undefined;
  },
};

/** An `Idempotency-Key` stands for the first upload that used it. */
const idempotency: Shared<Readonly<Record<string, { name: string; id: string | null }>>> = {
  initial: {},
  asked: fc.record({
    do: fc.constant('upload' as const),
    name: fc.constantFrom('a', 'b'),
    size: fc.constant(1),
    key: fc.constantFrom('k1', 'k2'),
  }),
  ignores: isUnadmitted,
  next(claims, { name, key = '' }, told) {
    const claim = claims[key];
    if (told?.status === 409) return claim && claim.name !== name ? claims : undefined;
    if (!claim) return { ...claims, [key]: { name, id: told?.id ?? null } };
    if (claim.name !== name) return told ? undefined : claims;
    if (told && claim.id !== null && told.id !== claim.id) return undefined;
    return { ...claims, [key]: { name, id: told?.id ?? claim.id } };
  },
};

/**
 * A direct upload whose bytes have arrived, in an account that has its maximum number of files: it is a file once, is refused once, or is
 * cancelled once, whatever its client and the event of the bucket do at once, and while another file is deleted.
 */
const ticket: Shared<{ is: 'open' | 'file' | 'refused' | 'cancelled' | 'deleted'; hasRoom: boolean }> = {
  initial: { is: 'open', hasRoom: false },
  async prepare({ byKey }) {
    const json = { name: 'a', mime_type: 'text/plain', size_bytes: 1 };
    const { body } = await byKey('createUpload', { json });
    await fetch(body.upload.url, { method: 'PUT', headers: body.upload.headers, body: 'a' });
    const form = { name: 'a', content: '', isStream: false };
    const { body: other } = await byKey('uploadFile', { form });
    for (let files = 1; files < LIMITS.FILE_COUNT_LIMIT; files++) await byKey('uploadFile', { form });
    return { a: [body.id], other: [other.id] };
  },
  asked: fc.oneof(
    { weight: 4, arbitrary: ask({ do: 'complete' }) },
    { weight: 2, arbitrary: ask({ do: 'event of the bucket', name: 'arrived' }) },
    { weight: 2, arbitrary: ask({ do: 'delete another', name: 'other' }) },
    { weight: 1, arbitrary: ask({ do: 'cancel' }) },
    { weight: 1, arbitrary: ask({ do: 'delete' }) },
    { weight: 2, arbitrary: ask({ do: 'get' }) },
  ),
  ignores: isUnadmitted,
  next(state, { do: what }, told) {
    const { is, hasRoom } = state;
    const gives = (status: number, after: typeof state = state) =>
      !told || told.status === status ? after : undefined;
    if (what === 'delete another') return gives(hasRoom ? 404 : 200, { is, hasRoom: true });
    if (what === 'get') return gives(is === 'file' ? 200 : 404);
    if (what === 'delete') return is === 'file' ? gives(200, { is: 'deleted', hasRoom }) : gives(404);
    if (what === 'cancel') return is === 'open' ? gives(200, { is: 'cancelled', hasRoom }) : gives(404);
    const then = is === 'open' ? { is: hasRoom ? ('file' as const) : ('refused' as const), hasRoom } : state;
    if (what === 'event of the bucket') return then;
    return gives(then.is === 'file' ? 201 : then.is === 'refused' ? 403 : 404, then);
  },
};

/** Everything that promises to be linearizable. */
export const SHARED = {
  'the storage of an account': quota,
  'the total of a list': total,
  'the revocation of a key': revocation,
  'the rate limit': limiter,
  'an Idempotency-Key': idempotency,
  'a direct upload': ticket,
} as unknown as Readonly<Record<string, Shared<never>>>;

/** What needs no id. */
const BY_NAME = new Set<Asked['do']>(['upload', 'list', 'usage']);

/** The clients of an account that has what they share. */
export async function clientsOf({ byKey, bySession }: Account, { prepare }: Pick<Shared<unknown>, 'prepare'>) {
  const ids: Ids = (await prepare?.({ byKey, bySession })) ?? {};
  return {
    ids,
    /** What a client asks for: of files, the newest of the name whose upload was answered. @returns undefined when there is none. */
    named(asked: Asked): Asked | undefined {
      const name = BY_NAME.has(asked.do) ? asked.name : ids[asked.name]?.at(-1);
      return name === undefined ? undefined : { ...asked, name };
    },
    async perform({ do: what, name, size, key }: Asked): Promise<Answer> {
      const id = name;
      if (what === 'usage') return byKey('getUsage', {});
      if (what === 'list') return byKey('listFiles', {});
      if (what === 'delete' || what === 'delete another') return byKey('deleteFile', { id });
      if (what === 'get') return byKey('getFile', { id });
      if (what === 'complete') return byKey('completeUpload', { id });
      if (what === 'cancel') return byKey('cancelUpload', { id });
      if (what === 'revoke') return bySession('revokeApiKey', { id });
      const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
      const form = { name, content: 'x'.repeat(size), isStream: false };
      const answer = await byKey('uploadFile', { headers, form });
      if (answer.status === 201) ids[name] = [...(ids[name] ?? []), answer.body.id];
      return answer;
    },
  };
}

/** @returns undefined when the answer says nothing. */
export function told({ status, body, headers }: Answer): Told | undefined {
  if (status === 0 || status >= 500) return undefined;
  const left = /r=(\d+)/.exec(String(headers.RateLimit))?.[1];
  return {
    status,
    ...(body.id !== undefined && { id: body.id }),
    ...(body.total !== undefined && { total: body.total }),
    ...(body.storage_used_bytes !== undefined && { usedBytes: body.storage_used_bytes }),
    ...(left !== undefined && { left: Number(left) }),
  };
}

/**
 * Lets two to four clients, of which each asks two to four times, use the object at the same time; then the checker judges what they were told.
 * @param one  what a client asks once.
 * @param record  lets the clients ask.
 * @throws Error when no order of the calls explains what the clients were told.
 */
export async function expectOrder<State, One>(
  shared: Shared<State>,
  one: fc.Arbitrary<One>,
  numRuns: number,
  record: (plans: readonly (readonly One[])[]) => Promise<readonly Call<Asked, Told>[]>,
): Promise<void> {
  let successes = 0;
  const plans = fc.noBias(fc.array(fc.array(one, { minLength: 2, maxLength: 4 }), { minLength: 2, maxLength: 4 }));
  const property = fc.asyncProperty(plans, async (plans) => {
    const calls = (await record(plans)).filter(({ output }) => !(output && shared.ignores?.(output)));
    expect(isLinearizable(calls, shared), `not linearizable: ${JSON.stringify(calls)}`).toBe(true);
    successes += calls.filter(({ output }) => output && output.status < 300).length;
  });
  // Other examples than the one that failed are run by other schedules, so a failure is not shrunk.
  await fc.assert(property, { numRuns, endOnFailure: true });
  // Where nothing succeeds, any order explains it.
  expect(successes).toBeGreaterThan(numRuns);
}
