import { inflateRawSync } from 'node:zlib';
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Fault, FaultSubject } from '../../local-aws/service.ts';
import type { SweepReport } from '../../shared/files/sweep.ts';
import { readBooks } from '../support/books.ts';
import { generateFiles } from '../support/generated-files.ts';
import { askForTicket, complete, put, type Ticket } from '../support/lanes.ts';
import { type Operator, operatorOf } from '../support/operator.ts';
import { startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { withFault } from '../support/with-fault.ts';

/** The sweeper together with another sweeper, and with requests that are slower than their deadline. */

let service: TestService;
let operator: Operator;

beforeAll(async () => {
  service = await startTestService({ RATE_LIMIT_UPLOADS_PER_MINUTE: '1000' });
  operator = operatorOf(service);
  service.holdEvents();
});
afterAll(async () => {
  operator.close();
  await service.close();
});

const each = <Result>(count: number, make: (name: string) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => make(`${index}.bin`)));

async function arrived({ byKey }: TestAccount, name: string): Promise<Ticket> {
  const { body: ticket } = await askForTicket(byKey, name, 5);
  expect(await put(ticket, 'hello')).toBe(200);
  return ticket;
}

/** The name of a function's role, which identifies its calls. */
const roleOf = (label: string) => service.lambda.find(label).roleArn.split('/').at(-1) ?? '';

/**
 * Leaves work of each kind for the sweeper: one leaf, and `count` or twice as many rows of every other kind. Leaves `count` files, too.
 * @returns the number of rows, as the sweeper reports them.
 */
async function leaveWork(account: TestAccount, count: number): Promise<SweepReport['swept']> {
  const { byKey } = account;
  const s3 = (operation: string, effect: Fault['effect']): Fault => ({ match: { service: 's3', operation }, effect });
  const upload = (name: string) => byKey.upload(name, 'hello');

  // Tickets without bytes, tickets with bytes, and cancelled tickets. The bytes of the cancelled tickets arrive late, because the empty
  // objects that block their keys could not be written.
  await each(count, (name) => askForTicket(byKey, name, 5));
  await each(count, (name) => arrived(account, name));
  const unguarded = await each(count, (name) => askForTicket(byKey, name, 5));
  const guarding = { principal: roleOf('CancelUploadFunction'), operation: 'PutObject' };
  await withFault(service, { match: guarding, effect: 'error-before' }, () =>
    Promise.all(unguarded.map(({ body }) => byKey.request('DELETE', `/uploads/${body.id}`))),
  );
  for (const { body } of unguarded) expect(await put(body, 'hello')).toBe(200);

  const files = await each(count, upload);
  await withFault(service, s3('DeleteObject', 'error-before'), () =>
    Promise.all(files.map(({ body }) => byKey.request('DELETE', `/files/${body.id}`))),
  );

  // The first completion copies the bytes but cannot settle; the second succeeds.
  const tickets = await each(count, (name) => arrived(account, name));
  const completeAll = () => Promise.all(tickets.map((ticket) => complete(byKey, ticket)));
  await withFault(service, { match: { operation: 'TransactWriteItems' }, effect: 'error-before' }, completeAll);
  for (const { status } of await completeAll()) expect(status).toBe(201);
  return { ticket: 2 * count, cancelled: count, deleted: count, leftovers: count, leaf: 1 };
}

/** Expects that the account has exactly these files, and that no work is left. */
async function expectFiles({ id }: TestAccount, names: string[]): Promise<void> {
  const { problems, unfinished, accountOf } = await readBooks(operator, id);
  expect({ problems, unfinished }).toEqual({ problems: [], unfinished: [] });
  expect(accountOf(id)).toEqual({ usedBytes: 5 * names.length, fileCount: names.length, names });
}

test('two simultaneous sweepers do each piece of work once', async () => {
  const account = await service.newAccount();
  const work = await leaveWork(account, 2);
  expect((await readBooks(operator, account.id)).problems).toEqual([]);
  const twoSweeps = () => Promise.all([operator.sweep(), operator.sweep()]);
  // Nothing is due yet: this only starts both environments, so that the next two sweeps begin together.
  for (const { swept } of await twoSweeps()) expect(Object.values(swept)).toEqual([0, 0, 0, 0, 0]);

  expect(await operator.expireDeadlines()).toBe(Object.values(work).reduce((sum, rows) => sum + rows));
  // Both sweepers have read the list of work before one of them begins the work.
  const bothHaveRead = Promise.withResolvers<void>();
  let reads = 0;
  const isRead = ({ input }: FaultSubject) => {
    if (!JSON.stringify(input).includes('"unfinished"')) return false;
    reads += 1;
    if (reads === 2) bothHaveRead.resolve();
    return true;
  };
  const looking: Fault = {
    match: { principal: roleOf('SweepFunction'), operation: 'Scan', predicate: isRead },
    effect: { answeredAfter: bothHaveRead.promise },
  };
  const mark = service.front.meter.mark();
  const [one, other] = await withFault(service, looking, twoSweeps);
  const refused = service.front.meter
    .since(mark)
    .calls.filter(({ operation, status }) => operation === 'UpdateItem' && status === 400);
  expect(refused.length).toBeGreaterThan(0);
  expect([one.failed, other.failed]).toEqual([0, 0]);
  for (const kind of Object.keys(work) as (keyof typeof work)[]) {
    expect([kind, one.swept[kind] + other.swept[kind]]).toEqual([kind, work[kind]]);
  }
  await expectFiles(account, ['0.bin', '1.bin']);
});

test('the next sweeper finishes the work that others failed to do', async () => {
  const account = await service.newAccount();
  await leaveWork(account, 1);
  await operator.expireDeadlines();
  // What looks for work must not fail. Otherwise the sweepers would find none, and nothing would fail.
  const predicate = ({ operation }: FaultSubject) => operation !== 'Query' && operation !== 'Scan';
  const failing: Fault = { match: { principal: roleOf('SweepFunction'), predicate }, effect: 'error-after', every: 3 };
  await withFault(service, failing, () => Promise.all([operator.sweep(), operator.sweep()]));
  await operator.expireDeadlines();
  expect((await operator.sweep()).failed).toBe(0);
  await expectFiles(account, ['0.bin']);
});

test('the next sweeper finishes the work of one that was killed', async () => {
  const account = await service.newAccount();
  await leaveWork(account, 1);
  const { arn } = service.lambda.find('SweepFunction');
  // A sweeper makes these calls in this order. It is killed at each of them in turn, so the next sweeper still has to make the later calls.
  for (const operation of ['TransactWriteItems', 'DeleteObject', 'DeleteItem']) {
    await operator.expireDeadlines();
    const stuck: Fault = { match: { principal: roleOf('SweepFunction'), operation }, effect: 'timeout' };
    await withFault(service, stuck, async (fault) => {
      const kill = async () => {
        await expect.poll(() => fault.hits).toBeGreaterThan(0);
        await service.lambda.killEnvironments(arn);
      };
      await Promise.all([expect(operator.sweep()).rejects.toThrow('killed'), kill()]);
    });
  }
  await operator.expireDeadlines();
  expect((await operator.sweep()).failed).toBe(0);
  await expectFiles(account, ['0.bin']);
});

test('a completion that goes on after its ticket has ended makes no file, and its client gets 404', async () => {
  const account = await service.newAccount();
  const ticket = await arrived(account, 'slow.bin');
  const match = { principal: roleOf('CompleteUploadFunction'), operation: 'TransactWriteItems' };
  const { answered } = await withFault(service, { match, effect: 'conflict' }, async (settling) => {
    const answered = complete(account.byKey, ticket);
    await expect.poll(() => settling.hits).toBeGreaterThan(0);
    await operator.expireDeadlines();
    expect((await operator.sweep()).swept).toMatchObject({ ticket: 1 });
    return { answered };
  });
  const { status, body } = await answered;
  expect([status, body]).toEqual([404, { error: 'not_found' }]);
  await expectFiles(account, []);
});

type Page = { items: { name: string }[]; total: number };

test('a search finds the same files before and after the sweeper has sealed their leaf, and no deleted one', async () => {
  const { id, byKey } = await service.newAccount();
  const nameOf = (seq: number) => `${seq % 2 ? 'CAFÉ' : 'tea'} ${seq}`;
  const [newest] = await generateFiles(operator.dynamoDb, service.tables, { accountId: id, count: 191, nameOf });
  await byKey.upload('café last', 'x');
  await byKey.request('DELETE', `/files/${newest?.id}`);
  const found = async () =>
    (await byKey.request<Page>('GET', '/files?limit=3&search=Cafe%CC%81')).body.items.map(({ name }) => name);
  const total = async () => (await byKey.request<Page>('GET', '/files?search=caf')).body.total;
  const expected = ['café last', 'CAFÉ 189', 'CAFÉ 187'];
  expect([await found(), await total()]).toEqual([expected, 96]);
  await operator.expireDeadlines();
  expect((await operator.sweep()).failed).toBe(0);
  expect([await found(), await total()]).toEqual([expected, 96]);
  const { problems } = await readBooks(operator, id);
  expect(problems.filter((problem) => problem.includes('seal'))).toEqual([]);
  const Key = { account_id: { S: id }, id: { S: '#names#00000000002' } };
  const { Item } = await operator.dynamoDb.send(new GetItemCommand({ TableName: service.tables.files, Key }));
  const sealed = inflateRawSync(Item?.folded?.B ?? new Uint8Array())
    .toString()
    .split('/');
  const folded = Array.from({ length: 62 }, (_, slot) => `${slot % 2 ? 'café' : 'tea'} ${128 + slot}`);
  expect(sealed).toEqual([...folded, '', 'café last']);
});
