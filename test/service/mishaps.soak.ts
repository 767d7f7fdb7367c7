import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readBooks } from '../support/books.ts';
import type { Answer } from '../support/client.ts';
import { askForTicket, complete, put, type Ticket, uploadStreaming } from '../support/lanes.ts';
import { type Mishap, type Mishaps, mishapsOf } from '../support/mishaps.ts';
import { type Operator, operatorOf } from '../support/operator.ts';
import { startTestService, type TestAccount, type TestService } from '../support/service.ts';

/**
 * Every call to AWS by which a request changes something goes wrong, one after the other and in every way: the client learns
 * the truth, and once the sweeper has run the books balance (design, section 4: invariants 1, 2 and 4).
 */

/** More than one part. */
const LARGE = new Uint8Array(5 * 1024 * 1024 + 1);

let service: TestService;
let operator: Operator;
let mishaps: Mishaps;
/** As many as a function has environments, so that all can be at work at once. */
let accounts: TestAccount[];

beforeAll(async () => {
  service = await startTestService({
    RATE_LIMIT_UPLOADS_PER_MINUTE: '100000',
    RATE_LIMIT_REQUESTS_PER_MINUTE: '100000',
  });
  operator = operatorOf(service);
  mishaps = mishapsOf(service);
  accounts = await Promise.all(Array.from({ length: 8 }, () => service.newAccount()));
  // Only the client's own requests settle, so that what is struck is certain.
  service.holdEvents();
});
afterAll(async () => {
  operator.close();
  await service.close();
});

/** Makes the request to which the mishap happens. */
type Suffer = <Body>(request: () => Promise<Answer<Body>>) => Promise<Answer<Body>>;

/**
 * What a client does, and the request of it that suffers; then it goes on as it should.
 * @returns whether there has to be a file of that name now; if not, there must be none.
 */
type Play = (account: TestAccount, name: string, suffer: Suffer) => Promise<boolean>;

const isMade = ({ status }: Answer) => status === 201;

async function arrived({ byKey }: TestAccount, name: string): Promise<Ticket> {
  const { body: ticket } = await askForTicket(byKey, name, 5);
  expect(await put(ticket, 'hello')).toBe(200);
  return ticket;
}

const completion: Play = async (account, name, suffer) => {
  const ticket = await arrived(account, name);
  const finish = () => complete(account.byKey, ticket);
  return isMade(await suffer(finish)) || isMade(await finish());
};

const deletion: Play = async (account, name, suffer) => {
  const { body } = await account.byKey.upload(name, 'hello');
  return removal(account, body.id, suffer);
};

/** A deletion that failed may have happened; whoever repeats it learns that it has. */
async function removal({ byKey }: TestAccount, id: unknown, suffer: Suffer): Promise<boolean> {
  const remove = () => byKey.request('DELETE', `/files/${id}`);
  const { status } = await suffer(remove);
  if (status !== 200) expect([200, 404]).toContain((await remove()).status);
  expect((await byKey.request('GET', `/files/${id}`)).status).toBe(404);
  return false;
}

/**
 * Before the sweeper and after it, each account has the files of these names, of all that begin like them.
 * @returns what was left for the sweeper.
 */
async function expectFiles(prefix: string, expected: ReadonlyMap<TestAccount, string[]>): Promise<string[]> {
  const expectNames = async () => {
    const books = await readBooks(operator);
    for (const [{ id }, names] of expected) {
      const found = books.accountOf(id).names.filter((name) => name.startsWith(prefix));
      expect(found).toEqual(names.sort());
    }
    return books;
  };
  const before = await expectNames();
  await operator.passDeadlines();
  await operator.sweep();
  const { problems, unfinished } = await expectNames();
  expect({ problems, unfinished }).toEqual({ problems: [], unfinished: [] });
  return before.unfinished;
}

/** Without an `Idempotency-Key` an upload cannot be repeated safely: what failed must not exist. */
describe.for<[string, Play]>([
  ['an upload', async ({ byKey }, name, suffer) => isMade(await suffer(() => byKey.upload(name, 'hello')))],
  [
    'a streaming upload',
    async (account, name, suffer) => isMade(await suffer(() => uploadStreaming(account, name, LARGE))),
  ],
  [
    'a ticket',
    async ({ byKey }, name, suffer) => {
      await suffer(() => askForTicket(byKey, name, 5));
      return false;
    },
  ],
  ['the completion of a direct upload', completion],
  ['the deletion of a file', deletion],
  [
    'the cancellation of a ticket',
    async (account, name, suffer) => removal(account, (await arrived(account, name)).id, suffer),
  ],
])('%s', ([what, play]) => {
  const MISHAPS: Mishap[] = [
    { effect: 'cut-after', reach: 'once' },
    { effect: 'error-after', reach: 'for good' },
    { effect: 'error-before', reach: 'and all after it' },
    { effect: 'transaction-conflict', reach: 'once', among: 'TransactWriteItems' },
    { effect: 'timeout', reach: 'once', among: 'TransactWriteItems' },
  ];

  test('tells the truth whatever happens at each of its calls', async () => {
    const expected = new Map<TestAccount, string[]>();
    await Promise.all(
      MISHAPS.map(async (mishap, index) => {
        const account = accounts[index] as TestAccount;
        const names: string[] = [];
        expected.set(account, names);
        for (let nth = 1, isOver = false; !isOver; nth++) {
          const name = `${what}, ${mishap.effect} ${mishap.reach} at ${nth}`;
          const isThere = await play(account, name, async (request) => {
            const strike = mishaps.strike(account, nth, mishap);
            const answer = await request().finally(strike.remove);
            isOver = strike.struck === undefined;
            // Then a retry of the call mends it.
            if (mishap.reach === 'once') expect(`${name}: ${answer.status}`).toMatch(/20[012]$/);
            return answer;
          });
          if (isThere) names.push(name);
        }
      }),
    );
    await expectFiles(what, expected);
  });
});

interface Killed {
  readonly play: Play;
  readonly kill: () => Promise<void>;
}

/** Who is killed leaves its client in doubt: one that repeats the request under the same key has one file in the end. */
describe.for<[string, Killed]>([
  [
    'an upload with a key',
    {
      kill: () => killFunction('UploadFileFunction'),
      async play({ byKey }, name, suffer) {
        const upload = () => byKey.upload(name, 'hello', { headers: { 'idempotency-key': name } });
        return isMade(await suffer(upload)) || isMade(await upload());
      },
    },
  ],
  [
    'a streaming upload with a key',
    {
      kill: () => service.stopWebFunctions(),
      async play(account, name, suffer) {
        const upload = () => uploadStreaming(account, name, LARGE, { 'idempotency-key': name });
        return isMade(await suffer(upload)) || isMade(await upload());
      },
    },
  ],
  [
    'a ticket with a key',
    {
      kill: () => killFunction('UploadFileFunction'),
      async play({ byKey }, name, suffer) {
        const ask = () => askForTicket(byKey, name, 5, { 'idempotency-key': name });
        const asked = await suffer(ask);
        const { body: ticket } = asked.status === 202 ? asked : await ask();
        expect(await put(ticket, 'hello')).toBe(200);
        return isMade(await complete(byKey, ticket));
      },
    },
  ],
  ['a completion', { kill: () => killFunction('CompleteUploadFunction'), play: completion }],
  ['a deletion', { kill: () => killFunction('DeleteFileFunction'), play: deletion }],
])('%s', ([what, { play, kill }]) => {
  test('survives the death of its process after each of its calls', async () => {
    const expected = new Map<TestAccount, string[]>();
    let deaths = 0;
    const plays = accounts.map((account, index) => {
      const nth = index + 1;
      const name = `${what}, killed after ${nth}`;
      const { promise: isWaiting, resolve: waits } = Promise.withResolvers<void>();
      const ended = play(account, name, async (request) => {
        // The call happens, but its answer is lost, and the next attempt waits for one: so it dies knowing nothing.
        const lost = mishaps.strike(account, nth, { effect: 'cut-after', reach: 'once' });
        const silence = mishaps.strike(account, nth, { effect: 'timeout', reach: 'for good' });
        void silence.whenStruck.then(() => {
          deaths++;
          waits();
        });
        return request().finally(() => {
          lost.remove();
          silence.remove();
        });
      })
        .then((isThere) => expected.set(account, isThere ? [name] : []))
        .finally(waits);
      return { isWaiting, ended };
    });
    await Promise.all(plays.map(({ isWaiting }) => isWaiting));
    await kill();
    await Promise.all(plays.map(({ ended }) => ended));
    expect(deaths).toBeGreaterThan(1);
    // Who repeats a request for a ticket is given the same one, which has become a file.
    expect(await expectFiles(what, expected)).not.toContain('pending direct');
  });
});

function killFunction(label: string): Promise<void> {
  return service.lambda.killEnvironments(service.lambda.find(label).arn);
}
