import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { FAST_BYTES_PER_SECOND, type Occupant, type Owner, Places } from '../../../functions/upload-stream/places.ts';
import {
  STREAMING_PLACES_PER_ENVIRONMENT,
  STREAMS_PER_ACCOUNT_MAX,
  UPLOAD_SLOWEST_BYTES_PER_SECOND,
} from '../../../shared/limits.ts';

const PLACES = STREAMING_PLACES_PER_ENVIRONMENT;
const KEPT_FREE = PLACES / 4;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A client that sends at one pace from the beginning. */
class Client implements Occupant {
  isRefused = false;
  isCut = false;
  readonly bytesPerSecond: number;
  readonly owner: Owner;
  readonly #since = Date.now();

  constructor(owner: string, bytesPerSecond: number, isStranger = false) {
    this.owner = { id: owner, isStranger };
    this.bytesPerSecond = bytesPerSecond;
  }

  get body() {
    return {
      waitedMs: Date.now() - this.#since,
      bytesPerSecond: this.bytesPerSecond,
      hasEnded: false,
      cut: () => {
        this.isCut = true;
      },
    };
  }
}

const SLOW = UPLOAD_SLOWEST_BYTES_PER_SECOND;
const FAST = FAST_BYTES_PER_SECOND;
const cutOf = (clients: readonly Client[]) => clients.filter(({ isCut }) => isCut);

/** @param count  the number of uploads of each owner. */
function slowClients(owners: readonly string[], count: number): Client[] {
  return owners.flatMap((owner) => Array.from({ length: count }, () => new Client(owner, SLOW)));
}

function takeAll(places: Places, clients: readonly Client[]): void {
  for (const client of clients) places.take(client);
}

const names = (count: number) => Array.from({ length: count }, (_, index) => `account ${index}`);

describe('slow uploads', () => {
  test('stay while three quarters of the places are enough', () => {
    const places = new Places(PLACES, () => {});
    const clients = slowClients(names((PLACES - KEPT_FREE) / 4), 4);
    takeAll(places, clients);
    vi.advanceTimersByTime(14 * 60_000);
    expect(cutOf(clients)).toEqual([]);
  });

  test.each([1, PLACES / 8, PLACES])(
    'leave a quarter of the places free within seconds, if %i accounts send them',
    (accounts) => {
      const places = new Places(PLACES, () => {});
      const clients = slowClients(names(accounts), PLACES / accounts);
      takeAll(places, clients);
      expect(cutOf(clients)).toEqual([]);
      vi.advanceTimersByTime(3_000);
      expect(cutOf(clients)).toHaveLength(KEPT_FREE);
    },
  );

  test('give way by account: the one with the most uploads first', () => {
    const places = new Places(PLACES, () => {});
    const greedy = slowClients(['a', 'b'], STREAMS_PER_ACCOUNT_MAX);
    const modest = slowClients(names(PLACES - greedy.length), 1);
    takeAll(places, [...modest, ...greedy]);
    vi.advanceTimersByTime(3_000);
    expect(cutOf(modest)).toEqual([]);
    const left = ['a', 'b'].map((id) => greedy.filter((client) => client.owner.id === id && !client.isCut).length);
    expect(left).toEqual([10, 10]);
  });

  test('give way by pace: of one account the slowest first', () => {
    const places = new Places(8, () => {});
    const paces = [5, 3, 7, 1, 8, 2, 6, 4].map((factor) => new Client('account', factor * 1_000));
    takeAll(places, paces);
    vi.advanceTimersByTime(3_000);
    expect(cutOf(paces).map(({ bytesPerSecond }) => bytesPerSecond)).toEqual([1_000, 2_000]);
  });

  test('give way at once to an upload that comes when no more than a quarter of the places is free', () => {
    const places = new Places(8, () => {});
    const slow = slowClients(['account'], 8);
    takeAll(places, slow);
    vi.advanceTimersByTime(3_000);
    expect(cutOf(slow)).toHaveLength(2);
    const back = new Client('account', SLOW);
    places.take(back);
    expect(back.isCut).toBe(false);
    expect(cutOf(slow)).toHaveLength(3);
  });
});

test('a fast upload never gives way, however many places its account holds', () => {
  const places = new Places(PLACES, () => {});
  const fast = Array.from({ length: PLACES }, () => new Client('account', FAST));
  takeAll(places, fast);
  vi.advanceTimersByTime(60_000);
  expect(cutOf(fast)).toEqual([]);
});

test('clients without a valid credential give way before any account', () => {
  const places = new Places(8, () => {});
  const uploads = slowClients(['account'], 6);
  const strangers = ['192.0.2.1', '192.0.2.2'].map((address) => new Client(address, 2 * SLOW, true));
  takeAll(places, [...strangers, ...uploads]);
  vi.advanceTimersByTime(3_000);
  expect(cutOf([...uploads, ...strangers])).toEqual(strangers);
});

test('refused bodies of one owner may hold a quarter of the places', () => {
  const places = new Places(PLACES, () => {});
  const uploads = slowClients(['account'], STREAMS_PER_ACCOUNT_MAX);
  const refused = slowClients(['account'], PLACES / 4);
  for (const client of refused) client.isRefused = true;
  takeAll(places, [...uploads, ...refused]);
  expect(places.hasTooManyRefused({ id: 'account', isStranger: false })).toBe(false);
  const oneMore = new Client('account', SLOW);
  oneMore.isRefused = true;
  places.take(oneMore);
  expect(places.hasTooManyRefused({ id: 'account', isStranger: false })).toBe(true);
  expect(places.hasTooManyRefused({ id: 'another', isStranger: false })).toBe(false);
});

test('while any place is taken, a process reports once a minute how many places were taken at once', () => {
  const reported: number[] = [];
  const places = new Places(PLACES, (mostTaken) => reported.push(mostTaken));
  const [first, second] = [places.take(new Client('a', FAST)), places.take(new Client('b', FAST))];
  second();
  vi.advanceTimersByTime(60_000);
  expect(reported).toEqual([2]);
  vi.advanceTimersByTime(60_000);
  expect(reported).toEqual([2, 1]);
  first();
  vi.advanceTimersByTime(600_000);
  expect(reported).toEqual([2, 1]);
  expect(vi.getTimerCount()).toBe(0);
});

describe('refused bodies', () => {
  /**
   * One client for each place: a third are refused strangers, a third are refused accounts, and a third are slow uploads. The refused
   * clients are fast.
   */
  function mixed(): { strangers: Client[]; accounts: Client[]; uploads: Client[] } {
    const third = PLACES / 3;
    const refused = (owner: string, isStranger: boolean) =>
      Object.assign(new Client(owner, 10 * FAST, isStranger), { isRefused: true });
    return {
      strangers: names(third).map((name) => refused(`stranger ${name}`, true)),
      accounts: names(third).map((name) => refused(`refused ${name}`, false)),
      uploads: slowClients(names(third), 1),
    };
  }

  test('give way at once when they came without a valid credential, however fast and new they are', () => {
    const places = new Places(PLACES, () => {});
    const { strangers, accounts, uploads } = mixed();
    takeAll(places, [...uploads, ...accounts, ...strangers]);
    expect([cutOf(strangers).length, cutOf(accounts), cutOf(uploads)]).toEqual([KEPT_FREE, [], []]);
  });

  test('give way, if they are of accounts, after those without a valid credential and before slow uploads', () => {
    const places = new Places(PLACES, () => {});
    const { strangers, accounts, uploads } = mixed();
    takeAll(places, [...uploads, ...accounts, ...strangers]);
    vi.advanceTimersByTime(3_000);
    const fast = names(KEPT_FREE).map((name) => new Client(`fast ${name}`, FAST));
    takeAll(places, fast);
    const left = strangers.length - KEPT_FREE;
    expect([cutOf(strangers).length, cutOf(accounts).length]).toEqual([strangers.length, KEPT_FREE - left]);
    expect([cutOf(uploads), cutOf(fast)]).toEqual([[], []]);
  });
});

test('a report has the highest number of places that were taken at once in its minute', () => {
  const reported: number[] = [];
  const places = new Places(PLACES, (mostTaken) => reported.push(mostTaken));
  const leave = places.take(new Client('account', FAST));
  places.take(new Client('account', FAST));
  leave();
  vi.advanceTimersByTime(60_000);
  vi.advanceTimersByTime(60_000);
  expect(reported).toEqual([2, 1]);
});
