import { expect, vi } from 'vitest';
import type { MeteredRequest, Use } from '../../docs/costs/use.ts';
import type { MeteredCall } from '../../local-aws/service.ts';
import { generateKey } from '../../shared/api-keys/key-format.ts';
import {
  API_KEY_NAME_MAX_CODE_POINTS,
  API_KEYS_PER_ACCOUNT_MAX,
  CONFIGURABLE_LIMITS,
  FILE_NAME_MAX_BYTES,
  PAGE_LIMIT_MAX,
} from '../../shared/contract/limits.ts';
import { cleanFileName } from '../../shared/files/file-name.ts';
import { foldName } from '../../shared/files/sealed-names.ts';
import { writeKeys } from '../support/accounts.ts';
import { type Answer, type Client, client } from '../support/client.ts';
import { generateFiles } from '../support/generated-files.ts';
import { askForTicket, complete, put, uploadStreaming } from '../support/lanes.ts';
import { type Operator, operatorOf } from '../support/operator.ts';
import type { TestAccount, TestService } from '../support/service.ts';

const KIB = 1_024;
const [SMALL_FILE, LARGE_FILE] = [Buffer.alloc(100 * KIB, 'x'), Buffer.alloc(25 * KIB * KIB, 'x')];
const FILES_IN_LIST = 1_000;
/**
 * Each request is measured several times, and the lowest use counts. The first request of a function also reads what the function then
 * caches. The last use of a key is written at most once a minute.
 */
const TIMES = 3;
const LOG_WAIT = { timeout: 120_000, interval: 10 };

/** S3's operations by price. Source: S3 pricing, "Requests & data retrievals". */
const S3_PRICES = {
  write: /^(Put|Copy|List|CreateMultipart|CompleteMultipart|UploadPart)/,
  read: /^(Get|Head)/,
  free: /^(Delete|Abort)/,
};
/** The operations for which a bucket sends an event to EventBridge: objects that are created or deleted. */
const S3_EVENTS = /^(PutObject|CopyObject|CompleteMultipartUpload|DeleteObject)$/;

/** Measures what each common request uses of AWS, without errors, retries and cold starts. */
export async function meterUse(service: TestService): Promise<Record<MeteredRequest, Use>> {
  const { uploader, lister, limited, sealed, page, dearest, links, removable } = await prepare(service);
  const [seen] = links;
  const use = (act: Act, ...logged: string[]) => leastUse({ service, act, logged });
  const ofLimiter = await use(() => refused(limited.byKey, 429), 'request', 'metrics', 'metrics');
  const search = (account: TestAccount) => () =>
    done(account.bySession.request('GET', `/files?limit=${PAGE_LIMIT_MAX}&search=${WIDEST}`));
  const inline = await use(() => done(uploader.byKey.upload('a.bin', SMALL_FILE)), 'request', 'metrics');
  const sweep = await use(() => runSweeper(service), 'swept', 'metrics');
  return {
    inline,
    streaming: await use(() => done(uploadStreaming(uploader, 'a.bin', LARGE_FILE)), 'request', 'metrics'),
    direct: await use(() => uploadDirectly(service, uploader), 'request', 'request', 'metrics', 'upload arrived'),
    list: await use(() => done(lister.byKey.request('GET', '/files')), 'request'),
    search: await use(() => done(lister.byKey.request('GET', '/files?search=9')), 'request'),
    worstSearch: extrapolated(await use(search(page), 'request'), await use(search(dearest), 'request')),
    keys: await use(() => done(dearest.bySession.request('GET', '/api-keys')), 'request'),
    downloadUncached: await use(() => download(links.pop())),
    downloadCached: await use(() => download(seen)),
    remove: await use(() => done(uploader.byKey.request('DELETE', `/files/${removable.pop()}`)), 'request'),
    stranger: await use(
      () => refused(client(service.urls.base_url, { key: generateKey('test') }), 401),
      'request',
      'metrics',
    ),
    limited: ofLimiter,
    seal: await useOfSeal(service, sealed, [inline, sweep]),
    sweep,
    canary: await use(() => runCanary(service), 'request', 'request', 'request', 'request', 'metrics', 'metrics'),
  };
}

/** The limit of requests per minute. One of the accounts uses it up. */
export const LOW_LIMIT = 10;

/**
 * Uploads the last file of a leaf, and runs the sweeper, which seals the leaf.
 * @returns the read and write units beyond those of `others`.
 */
async function useOfSeal(service: TestService, { byKey }: TestAccount, others: readonly Use[]): Promise<Use> {
  const act = async () => {
    await done(byKey.upload('a.bin', SMALL_FILE));
    return runSweeper(service);
  };
  // A leaf becomes full only once, so there is no second upload for which the use of the key has been noted. Another request does that first.
  await useOf({ service, act: () => done(byKey.request('GET', '/usage')), logged: ['request'] });
  const use = await useOf({ service, act, logged: ['request', 'metrics', 'swept', 'metrics'] });
  const more = (units: 'readUnits' | 'writeUnits') => others.reduce((rest, other) => rest - other[units], use[units]);
  const nothing = {
    apiRequests: 0,
    answerBytes: 0,
    s3Writes: 0,
    s3Reads: 0,
    events: 0,
    logLines: 0,
    logBytes: 0,
    metrics: 0,
  };
  return { ...nothing, invocations: {}, readUnits: more('readUnits'), writeUnits: more('writeUnits') };
}

/**
 * Makes the accounts and files that the requests need. The first account uploads. The second account has many files. The third account has
 * used up its limit of requests. The next file of the fourth account fills a leaf. The fifth account makes a page of its files as dear as it
 * can, and the sixth also the rest of a search, and the list of its keys. The first account also has links that nobody has opened, and files
 * to delete.
 */
async function prepare(service: TestService) {
  const [uploader, lister, limited, sealed, page, dearest] = [
    await service.newAccount(),
    await service.newAccount(),
    await service.newAccount(),
    await service.newAccount(),
    await service.newAccount(),
    await service.newAccount(),
  ];
  const operator = operatorOf(service);
  await operator.putCanaryKey((await service.newAccount()).key);
  await generateFiles(operator.dynamoDb, service.tables, { accountId: lister.id, count: FILES_IN_LIST });
  await generateFiles(operator.dynamoDb, service.tables, { accountId: sealed.id, count: 62 });
  await done(sealed.byKey.upload('warm', SMALL_FILE));
  await makeSearchDear(operator, service, page.id, PAGE_LIMIT_MAX);
  await makeSearchDear(operator, service, dearest.id, FILES_IN_DEAREST);
  const names = Array.from({ length: API_KEYS_PER_ACCOUNT_MAX - 1 }, () => '💩'.repeat(API_KEY_NAME_MAX_CODE_POINTS));
  await writeKeys(operator.dynamoDb, service.tables.apiKeys, { accountId: dearest.id, names });
  operator.close();
  const links: string[] = [];
  const removable: string[] = [];
  for (let file = 0; file <= TIMES; file++) {
    const { body } = await done(uploader.byKey.upload('a', SMALL_FILE));
    links.push(String(body.url));
    const other = await done(uploader.byKey.upload('b', SMALL_FILE));
    removable.push(String(other.body.id));
  }
  // The limit of this account is used up for a minute, so `meterUse` measures the refusals first.
  for (let request = 0; request < LOW_LIMIT; request++) await refused(limited.byKey, 404);
  await refused(limited.byKey, 429);
  // Wait for all log lines of these requests, so that no line arrives during a measurement. A refusal by the limiter has two records of
  // metrics.
  const uploads = links.length + removable.length + 1;
  const requests = Array.from({ length: uploads + LOW_LIMIT + 1 }, () => 'request');
  const metrics = Array.from({ length: uploads + LOW_LIMIT + 2 }, () => 'metrics');
  await linesOf(() => service.logs, [...requests, ...metrics]);
  return { uploader, lister, limited, sealed, page, dearest, links, removable };
}

/** A character that is longer in JSON and in a link than in a name. */
const WIDEST = '"';

/** To write the names of as many files as an account may have would take too long. */
const FILES_IN_DEAREST = 10_000;

/** The use of a search among as many files as an account may have, from searches among one page of files and among many. */
function extrapolated(page: Use, many: Use): Use {
  const times = (CONFIGURABLE_LIMITS.FILE_COUNT_LIMIT.default - PAGE_LIMIT_MAX) / (FILES_IN_DEAREST - PAGE_LIMIT_MAX);
  return { ...many, readUnits: Math.round(page.readUnits + times * (many.readUnits - page.readUnits)) };
}

/**
 * Gives an account files with the longest names: random ones, which cannot be compressed, and on the first page those that make the longest
 * answer.
 */
async function makeSearchDear(
  { dynamoDb }: Operator,
  { tables }: TestService,
  accountId: string,
  count: number,
): Promise<void> {
  const isOnPage = (seq: number) => seq >= count - PAGE_LIMIT_MAX;
  const randomNames = namesThatDoNotShrink();
  await generateFiles(dynamoDb, tables, {
    accountId,
    count,
    nameOf: (seq) => (isOnPage(seq) ? WIDEST.repeat(FILE_NAME_MAX_BYTES) : randomNames()),
    hasRow: ({ seq }) => isOnPage(seq),
  });
}

/**
 * Makes names of the greatest length from characters that folding leaves alone. Their bytes are as evenly distributed as UTF-8 allows. The
 * numbers are the same in every run, so that the measured use is.
 */
function namesThatDoNotShrink(): () => string {
  const inRange = (first: number, last: number) =>
    Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index)).filter(
      (one) => foldName(one) === one && cleanFileName(`a${one}a`, '') === `a${one}a`,
    );
  const [oneByte, twoBytes, threeBytes] = [inRange(0x20, 0x7e), inRange(0x80, 0x7ff), inRange(0x800, 0xd7ff)];
  const kinds = [oneByte, oneByte, oneByte, oneByte, twoBytes, threeBytes];
  const random = randomNumbers();
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item;
  return () => {
    let name = '';
    while (Buffer.byteLength(name) <= FILE_NAME_MAX_BYTES - 3) name += pick(pick(kinds));
    return name;
  };
}

/** Numbers from 0 to 1, by the generator of Park and Miller. */
function randomNumbers(): () => number {
  let last = 1;
  return () => {
    last = (last * 48_271) % 2_147_483_647;
    return last / 2_147_483_647;
  };
}

async function uploadDirectly(service: TestService, { byKey }: TestAccount): Promise<Answer<unknown>[]> {
  service.holdEvents();
  const ticket = await done(askForTicket(byKey, 'a.bin', LARGE_FILE.length));
  if ((await put(ticket.body, LARGE_FILE)) !== 200) throw new Error('the PUT failed');
  const file = await done(complete(byKey, ticket.body));
  // On AWS the event takes about a second, so it comes after the request of a client that completes the upload at once.
  await service.deliverEvents();
  return [ticket, file];
}

async function runSweeper(service: TestService): Promise<[]> {
  await service.invoke('SweepFunction', {});
  return [];
}

/** Runs the canary at a time of the hour at which it does not upload through the streaming server. */
async function runCanary(service: TestService): Promise<[]> {
  const { payload } = await service.invoke('CanaryFunction', { time: '2026-01-01T00:30:00Z' });
  if (payload !== '[]') throw new Error(`steps of the canary failed: ${payload}`);
  return [];
}

async function refused(by: Client, status: number): Promise<Answer> {
  const answer = await by.request('GET', '/files/unknown');
  if (answer.status !== status) throw new Error(`a request was answered ${answer.status}, not ${status}`);
  return answer;
}

async function download(link = ''): Promise<[]> {
  const response = await fetch(link);
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`a download was answered ${response.status}`);
  return [];
}

async function done<Body>(request: Promise<Answer<Body>>): Promise<Answer<Body>> {
  const answer = await request;
  if (answer.status >= 300) throw new Error(`a request was answered ${answer.status}`);
  return answer;
}

/** What is measured. @returns the answers of the API. */
type Act = () => Promise<Answer<unknown> | readonly Answer<unknown>[]>;

interface Metering {
  readonly service: TestService;
  readonly act: Act;
  /** The messages of the log lines that functions write. */
  readonly logged: readonly string[];
}

/** Measures a request several times. @returns the lowest use. */
async function leastUse(metering: Metering): Promise<Use> {
  const uses: Use[] = [];
  for (let time = 0; time < TIMES; time++) uses.push(await useOf(metering));
  const weight = ({ writeUnits, readUnits, s3Writes, s3Reads }: Use) => writeUnits + readUnits + s3Writes + s3Reads;
  return uses.reduce((least, use) => (weight(use) < weight(least) ? use : least));
}

async function useOf({ service, act, logged }: Metering): Promise<Use> {
  const [mark, linesBefore] = [service.front.meter.mark(), service.logs.length];
  const answers = [await act()].flat();
  const lines = await linesOf(() => service.logs.slice(linesBefore), logged);
  const { calls, readUnits, writeUnits } = service.front.meter.since(mark);
  const s3 = calls.filter(({ service }) => service === 's3').map(({ operation }) => operation);
  const count = (pattern: RegExp) => s3.filter((operation) => pattern.test(operation)).length;
  expect(s3.filter((operation) => !Object.values(S3_PRICES).some((price) => price.test(operation)))).toEqual([]);
  return {
    apiRequests: logged.filter((message) => message === 'request').length,
    invocations: countInvocations(calls),
    answerBytes: answers.reduce((bytes, { body }) => bytes + Buffer.byteLength(JSON.stringify(body)), 0),
    readUnits,
    writeUnits,
    s3Writes: count(S3_PRICES.write),
    s3Reads: count(S3_PRICES.read),
    events: count(S3_EVENTS),
    logLines: lines.length,
    logBytes: lines.reduce((bytes, line) => bytes + Buffer.byteLength(line), 0),
    metrics: lines.reduce((sum, line) => sum + (JSON.parse(line)._aws?.CloudWatchMetrics[0].Metrics.length ?? 0), 0),
  };
}

/**
 * Counts invocations by their trace ids, because every invocation calls AWS. Calls of the streaming server, and of clients with a signed
 * URL, have no trace id.
 */
function countInvocations(calls: readonly MeteredCall[]): Record<string, number> {
  const traces = new Map<string, Set<string>>();
  for (const { principal, traceId } of calls) {
    const [, stack, name = ''] = /^FileHosting-local-(\w+)-(\w*?)Role/.exec(principal) ?? [];
    const [label, trace] = stack === 'Streaming' ? ['UploadStream', 'one'] : [name, traceId];
    if (stack !== undefined && trace !== undefined) traces.set(label, (traces.get(label) ?? new Set()).add(trace));
  }
  return Object.fromEntries([...traces].map(([label, { size }]) => [label, size] as const).sort());
}

/**
 * Waits for the functions' log lines with these messages. Durations are replaced by a constant, so that the size does not depend on speed.
 * Lines of the edge do not begin with the name of a function, and are ignored. Any further line of a function is an error, in this
 * measurement or in the next.
 */
function linesOf(logs: () => readonly string[], messages: readonly string[]): Promise<string[]> {
  return vi.waitFor(() => {
    const ofFunctions = logs().filter((line) => /^\S+ \{/.test(line));
    const lines = ofFunctions.map((line) => line.slice(line.indexOf('{')).replace(/"ms":\d+/, '"ms":99'));
    expect(lines.map((line) => JSON.parse(line).message).sort()).toEqual([...messages].sort());
    return lines;
  }, LOG_WAIT);
}
