import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from 'vitest';
import { restoreAccount, suspendAccount } from '../../../shared/administration/suspend-account.ts';
import { authenticateKey, createApiKey } from '../../../shared/api-keys/api-key.ts';
import { hashKey } from '../../../shared/api-keys/key-format.ts';
import { eachOf } from '../../../shared/each-of.ts';
import { completeUpload } from '../../../shared/files/complete-upload.ts';
import { findSession, hashToken, startSession } from '../../../shared/sessions/session.ts';
import { askForTicket, inTime, newAccount, newTicket, put, sweepLater } from '../files/actions.ts';
import { faultsOfProduct, triedAt } from '../files/faults.ts';
import { usageOf } from '../files/observe.ts';
import { startService } from '../files/service.ts';

const service = await startService();
const { apiKeyStore: keys, apiKeyCredentials } = await import('../../../shared/aws/api-key-store.ts');
const { sessionStore: sessions } = await import('../../../shared/aws/session-store.ts');
const { administrationStore: administration, keyMarkStore: keyMarks } = await import(
  '../../../shared/aws/administration-store.ts'
);
const applyFault = await faultsOfProduct();
const stores = { administration, keyMarks, sessions };

const suspend = (id: string) => suspendAccount(stores, id, inTime());
const restore = (id: string) => restoreAccount(stores, id, inTime());

async function makeKey(accountId: string): Promise<string> {
  return (await createApiKey(keys, { accountId, name: 'ci', kind: 'test', ...inTime() })).key;
}

interface Person {
  readonly id: string;
  readonly keys: readonly string[];
  readonly tokens: readonly string[];
}

/** Creates a person's account with two keys and two sessions. */
async function newPerson(): Promise<Person> {
  const id = await newAccount(service);
  return {
    id,
    keys: [await makeKey(id), await makeKey(id)],
    tokens: [
      await startSession(sessions, { accountId: id, userAgent: '' }),
      await startSession(sessions, { accountId: id, userAgent: '' }),
    ],
  };
}

/** For each key and session: whether it is accepted. */
async function areLetIn(person: Pick<Person, 'keys' | 'tokens'>): Promise<boolean[]> {
  const found = [
    ...person.keys.map((key) => authenticateKey(apiKeyCredentials, key)),
    ...person.tokens.map((token) => findSession(sessions, token)),
  ];
  return (await Promise.all(found)).map((credential) => credential !== undefined);
}

const NONE = [false, false, false, false];
const KEYS_ALONE = [true, true, false, false];

describe('a suspension', () => {
  test('can be repeated without harm, and so can a restoration', async () => {
    const person = await newPerson();
    for (const ended of [2, 0]) expect(await suspend(person.id)).toEqual({ keys: 2, sessions: ended });
    for (const _ of [1, 2]) expect(await restore(person.id)).toBe(2);
    expect(await areLetIn(person)).toEqual(KEYS_ALONE);
  });

  test('suspending an unknown account is not_found and creates no account', async () => {
    const id = crypto.randomUUID();
    await expect(suspend(id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(restore(id)).rejects.toMatchObject({ code: 'not_found' });
    expect(await service.stores.accounts.get(id)).toBeUndefined();
  });

  test('is not undone by the late writes of a request: the use of a key, the refresh of a session', async () => {
    const person = await newPerson();
    await suspend(person.id);
    const later = Date.now() + 2 * 3_600_000;
    await apiKeyCredentials.noteUse(hashKey(person.keys[0] ?? ''), later, later);
    const tokenHash = hashToken(person.tokens[0] ?? '') ?? '';
    await sessions.refresh({ tokenHash, refreshedAt: later, expiresAt: later + 60_000 });
    expect(await areLetIn(person)).toEqual(NONE);
  });

  test('does not bring back a key that was revoked meanwhile', async () => {
    const person = await newPerson();
    const marking = { ...keyMarks, mark: markAfter(() => revokeAll(person)) };
    await suspendAccount({ ...stores, keyMarks: marking }, person.id, inTime());
    const found = await Promise.all(person.keys.map((key) => apiKeyCredentials.find(hashKey(key))));
    expect(found).toEqual([undefined, undefined]);
  });
});

/** A store that runs something else before it marks a key. */
const markAfter =
  (first: () => Promise<unknown>): typeof keyMarks.mark =>
  async (...args) => {
    await first();
    return keyMarks.mark(...args);
  };

async function revokeAll({ id }: Person): Promise<void> {
  for (const key of await keys.list(id)) await keys.remove(id, key.id, inTime());
}

describe('a request under way while its account is suspended leaves no valid credential:', () => {
  test('a login that has read the account before its suspension', async () => {
    const id = await newAccount(service);
    const late = {
      ...sessions,
      add: async (session: Parameters<typeof sessions.add>[0]) => {
        await suspend(id);
        return sessions.add(session);
      },
    };
    await expect(startSession(late, { accountId: id, userAgent: '' })).rejects.toMatchObject({ code: 'unauthorized' });
    expect(await sessions.live(id, Date.now())).toEqual([]);
  });

  test('a login whose session is written just before the suspension', async () => {
    const id = await newAccount(service);
    const tokens: string[] = [];
    const late = {
      ...administration,
      suspend: async (of: string) => {
        tokens.push(await startSession(sessions, { accountId: id, userAgent: '' }));
        return administration.suspend(of);
      },
    };
    await suspendAccount({ ...stores, administration: late }, id, inTime());
    expect(await areLetIn({ keys: [], tokens })).toEqual([false]);
  });

  test('the creation of a key', async () => {
    const id = await newAccount(service);
    const late = {
      ...keys,
      add: async (...args: Parameters<typeof keys.add>) => {
        await suspend(id);
        return keys.add(...args);
      },
    };
    const request = { accountId: id, name: 'ci', kind: 'test' as const, ...inTime() };
    await expect(createApiKey(late, request)).rejects.toMatchObject({ code: 'unauthorized' });
    expect(await keys.list(id)).toEqual([]);
  });

  test('ten logins and ten creations of keys at the same time', async () => {
    const id = await newAccount(service);
    const made = { keys: [] as string[], tokens: [] as string[] };
    const works = Array.from({ length: 10 }, () => [
      startSession(sessions, { accountId: id, userAgent: '' }).then((token) => made.tokens.push(token)),
      makeKey(id).then((key) => made.keys.push(key)),
    ]).flat();
    await Promise.allSettled([...works.slice(0, 10), suspend(id), ...works.slice(10)]);
    expect((await areLetIn(made)).filter(Boolean)).toEqual([]);
  });
});

describe('nothing is added to the books of a suspended account:', () => {
  test('a ticket is refused', async () => {
    const id = await newAccount(service);
    await suspend(id);
    await expect(askForTicket(service, id, 5)).rejects.toMatchObject({ code: 'unauthorized' });
    expect(await usageOf(service, id)).toEqual({ bytes: 0, files: 0 });
  });

  test('an earlier ticket becomes a file only if the account is restored in time', async () => {
    const id = await newAccount(service);
    const [late, intime] = [await newTicket(service, id, 5), await newTicket(service, id, 5)];
    for (const ticket of [late, intime]) await put(ticket, 'hello');
    await suspend(id);
    const complete = (ticket: { id: string }) =>
      completeUpload(service.stores, { accountId: id, id: ticket.id }, inTime());
    await expect(complete(intime)).rejects.toMatchObject({ code: 'unauthorized' });
    await restore(id);
    expect(await complete(intime)).toMatchObject({ id: intime.id });
    await suspend(id);
    await expect(complete(late)).rejects.toMatchObject({ code: 'unauthorized' });
    await sweepLater(service, id);
    expect(await usageOf(service, id)).toEqual({ bytes: 5, files: 1 });
  });
});

describe('when a suspension and a restoration run at the same time, the last one to write the account wins for all keys:', () => {
  test('a suspension that is overtaken stops', async () => {
    const person = await newPerson();
    let isOvertaken = false;
    const overtaken = markAfter(async () => {
      if (isOvertaken) return;
      isOvertaken = true;
      await restore(person.id);
    });
    const slow = { ...stores, keyMarks: { ...keyMarks, mark: overtaken } };
    expect(await suspendAccount(slow, person.id, inTime())).toBeUndefined();
    expect(await areLetIn(person)).toEqual(KEYS_ALONE);
  });

  test('a restoration that is overtaken stops', async () => {
    const person = await newPerson();
    await suspend(person.id);
    let isOvertaken = false;
    const overtaken = markAfter(async () => {
      if (isOvertaken) return;
      isOvertaken = true;
      await suspend(person.id);
    });
    const slow = { ...stores, keyMarks: { ...keyMarks, mark: overtaken } };
    expect(await restoreAccount(slow, person.id, inTime())).toBeUndefined();
    expect(await areLetIn(person)).toEqual(NONE);
  });
});

test.each([
  ['suspension', suspend, NONE],
  ['restoration', restore, KEYS_ALONE],
] as const)('a %s that died or failed at any call is finished by the next one', async (what, work, letIn) => {
  const prepare = async () => {
    const person = await newPerson();
    if (what === 'restoration') await suspend(person.id);
    return person;
  };
  const { id } = await prepare();
  const { calls } = await applyFault('dies before', Number.POSITIVE_INFINITY, () => work(id));
  const nths = Array.from({ length: calls }, (_, index) => index + 1);
  expect(nths.length).toBeGreaterThan(1);
  const trials = nths.flatMap((nth) => triedAt(nth).map((fault) => ({ fault, nth })));
  // No more than eight at once, because on a busy engine even calls without a fault would fail.
  await eachOf(trials, 8, async ({ fault, nth }) => {
    const person = await prepare();
    const { happenLate } = await applyFault(fault, nth, () => work(person.id));
    await work(person.id);
    await happenLate();
    expect({ fault, nth, letIn: await areLetIn(person) }).toEqual({ fault, nth, letIn });
  });
});

test.each([
  ['suspension', suspend, restore, KEYS_ALONE],
  ['restoration', restore, suspend, NONE],
] as const)('a late call of a %s does not undo what was done since', async (_, work, undo, letIn) => {
  const prepare = async () => {
    const person = await newPerson();
    if (work === restore) await suspend(person.id);
    return person;
  };
  const { id } = await prepare();
  const { calls } = await applyFault('dies before', Number.POSITIVE_INFINITY, () => work(id));
  const nths = Array.from({ length: calls }, (_, index) => index + 1);
  await eachOf(nths, 8, async (nth) => {
    const person = await prepare();
    const { happenLate } = await applyFault('happens again late', nth, () => work(person.id));
    await undo(person.id);
    await happenLate();
    const keyIsMade = await makeKey(person.id).then(
      () => true,
      () => false,
    );
    expect({ nth, letIn: await areLetIn(person), keyIsMade }).toEqual({ nth, letIn, keyIsMade: work === suspend });
  });
});

test('an account whose deletion has begun cannot be restored', async () => {
  const person = await newPerson();
  await suspend(person.id);
  await service.engine.send(
    new UpdateItemCommand({
      TableName: service.tables.accounts,
      Key: { id: { S: person.id } },
      UpdateExpression: 'SET deleting = :yes',
      ExpressionAttributeValues: { ':yes': { BOOL: true } },
    }),
  );
  expect(await restore(person.id)).toBe('being deleted');
  expect(await areLetIn(person)).toEqual(NONE);
});
