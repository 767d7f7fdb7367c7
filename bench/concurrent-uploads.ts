/**
 * Simulates uploads of one account that begin at the same moment. Counts what it costs to give each upload its place in the listing
 * (decision 0024). Run it with `node bench/concurrent-uploads.ts`. It prints one table for each way in which a database treats transactions
 * that overlap on one item:
 * - DynamoDB cancels all but the first of them (`TransactionConflict`), and refuses single writes of the item while a transaction runs;
 * - DynamoDB Local carries out the transactions one after the other.
 *
 * Time is virtual. Each latency is a random number, distributed evenly between its bounds. A cancelled transaction costs two units per
 * item. A successful transaction also costs the units of its entries in indexes.
 */

const BOUNDS_MS = { read: [2, 5], write: [3, 7], transaction: [5, 10], object: [20, 40] } as const;

/** Virtual time, in which tasks sleep. It advances from one wake-up to the next. */
class Clock {
  now = 0;
  readonly #timers: { at: number; wake: () => void }[] = [];
  sleep(ms: number): Promise<void> {
    return new Promise((wake) => this.#timers.push({ at: this.now + ms, wake }));
  }
  async run(tasks: readonly Promise<void>[]): Promise<void> {
    let left = tasks.length;
    for (const task of tasks) task.finally(() => left--);
    for (;;) {
      // Let everything that the last timer started run until its next sleep.
      for (let task = 0; task < 20; task++) await Promise.resolve();
      if (left === 0) return;
      this.#timers.sort((a, b) => b.at - a.at);
      const next = this.#timers.pop();
      if (!next) throw new Error('a task waits, but no timer will wake it');
      this.now = next.at;
      next.wake();
    }
  }
}

type Outcome = 'done' | 'stale' | 'conflict';

/** The account's row, and what its calls cost. */
class Account {
  readonly clock = new Clock();
  nextSeq = 0;
  #busyUntil = 0;
  readonly #cancels: boolean;
  cost = { transactions: 0, writeUnits: 0, readUnits: 0 };

  constructor(cancels: boolean) {
    this.#cancels = cancels;
  }

  #latency(kind: keyof typeof BOUNDS_MS): number {
    const [low, high] = BOUNDS_MS[kind];
    return low + Math.random() * (high - low);
  }
  async storeObject(): Promise<void> {
    await this.clock.sleep(this.#latency('object'));
  }
  async read(): Promise<number> {
    this.cost.readUnits += 1;
    const ms = this.#latency('read');
    await this.clock.sleep(ms / 2);
    const { nextSeq } = this;
    await this.clock.sleep(ms / 2);
    return nextSeq;
  }
  /** A write of another item, which nothing else writes in transactions. */
  async writeOther(units: number): Promise<void> {
    this.cost.writeUnits += units;
    await this.clock.sleep(this.#latency('write'));
  }
  /** A write of the account's row alone. @returns the seq that it took; undefined when a transaction held the row at that time. */
  async take(): Promise<number | undefined> {
    this.cost.writeUnits += 1;
    const isRefused = this.#cancels && this.#busyUntil > this.clock.now;
    const seq = isRefused ? undefined : this.nextSeq++;
    await this.clock.sleep(this.#latency('write'));
    return seq;
  }
  /**
   * @param seq  the value that `next_seq` must have; undefined if any value will do.
   * @returns the outcome, and the `next_seq` that it found.
   */
  async transact(units: { items: number; indexes: number }, seq?: number): Promise<[Outcome, number]> {
    this.cost.transactions += 1;
    this.cost.writeUnits += 2 * units.items;
    const ms = this.#latency('transaction');
    const { now } = this.clock;
    if (this.#busyUntil > now) {
      if (this.#cancels) {
        await this.clock.sleep(ms / 2);
        return ['conflict', -1];
      }
      await this.clock.sleep(this.#busyUntil - now);
      while (this.#busyUntil > this.clock.now) await this.clock.sleep(this.#busyUntil - this.clock.now);
    }
    const found = this.nextSeq;
    if (seq !== undefined && found !== seq) {
      await this.clock.sleep(ms / 2);
      return ['stale', found];
    }
    this.#busyUntil = this.clock.now + ms;
    this.cost.writeUnits += units.indexes;
    await this.clock.sleep(ms);
    if (seq !== undefined) this.nextSeq++;
    return ['done', found];
  }
}

const jitter = (failures: number, firstMs = 25, longestMs = 500) =>
  Math.random() * Math.min(longestMs, firstMs * 2 ** failures);

/** Repeats a transaction until it does not conflict with another one. */
async function transactUntilDone(account: Account, items: number, indexes: number): Promise<void> {
  for (let failures = 0; ; failures++) {
    if ((await account.transact({ items, indexes }))[0] === 'done') return;
    await account.clock.sleep(jitter(failures));
  }
}

async function takeSeq(account: Account): Promise<void> {
  for (let failures = 0; (await account.take()) === undefined; failures++) await account.clock.sleep(jitter(failures));
}

/** A transaction of two items, the file and the account, with an entry in one index. */
const TWO_ITEMS = { items: 2, indexes: 1 };

/**
 * The first attempt uses the state of the account that was read at the beginning.
 * @param react  waits after a failure, and says what to try next.
 */
async function optimistic(
  account: Account,
  react: (failures: number, outcome: Outcome, found: number) => Promise<number>,
): Promise<void> {
  let seq = await account.read();
  await account.storeObject();
  for (let failures = 0; ; failures++) {
    const [outcome, found] = await account.transact(TWO_ITEMS, seq);
    if (outcome === 'done') return;
    seq = await react(failures, outcome, found === -1 ? seq : found);
  }
}

const VARIANTS: Record<string, (account: Account) => Promise<void>> = {
  'row, seq by an update of another item, leaf (before)': async (account) => {
    await account.read();
    await account.writeOther(2);
    await account.storeObject();
    await account.writeOther(1);
    await transactUntilDone(account, 3, 2);
  },
  'optimistic; takes `next_seq` from the failed condition, and retries at once': (account) =>
    optimistic(account, async (failures, outcome, found) => {
      if (outcome === 'conflict') await account.clock.sleep(jitter(failures));
      return found;
    }),
  'optimistic; waits 0-25 ms, doubling, and reads': (account) =>
    optimistic(account, async (failures) => {
      await account.clock.sleep(jitter(failures));
      return account.read();
    }),
  'optimistic; waits 0-250 ms, doubling, and reads': (account) =>
    optimistic(account, async (failures) => {
      await account.clock.sleep(jitter(failures, 250, 4_000));
      return account.read();
    }),
  'seq by the update that reads the account': async (account) => {
    await takeSeq(account);
    await account.storeObject();
    await transactUntilDone(account, 2, 1);
  },
  'row; seq beside the object': async (account) => {
    await account.read();
    await account.writeOther(2);
    await Promise.all([account.storeObject(), takeSeq(account)]);
    await transactUntilDone(account, 2, 2);
  },
  'no transaction: account, then row': async (account) => {
    await account.read();
    await account.storeObject();
    await takeSeq(account);
    await account.writeOther(2);
  },
};

/** Simulates several clients. Each client makes `each` uploads, one after the other. @returns the means for one upload, as text. */
async function simulate(
  upload: (account: Account) => Promise<void>,
  { clients, each, runs }: { clients: number; each: number; runs: number },
  cancels: boolean,
): Promise<string> {
  const sums = { transactions: 0, writeUnits: 0, readUnits: 0, ms: 0 };
  for (let run = 0; run < runs; run++) {
    const account = new Account(cancels);
    const client = async () => {
      for (let index = 0; index < each; index++) await upload(account);
    };
    await account.clock.run(Array.from({ length: clients }, client));
    for (const name of ['transactions', 'writeUnits', 'readUnits'] as const) {
      sums[name] += account.cost[name] / (clients * each);
    }
    sums.ms += account.clock.now;
  }
  const mean = (sum: number) => (sum / runs).toFixed(1);
  const speed =
    each === 1 ? `${(sums.ms / runs).toFixed(0)} ms` : `${((clients * each * runs * 1_000) / sums.ms).toFixed(0)}/s`;
  return `${mean(sums.transactions)} / ${mean(sums.writeUnits)} / ${mean(sums.readUnits)} / ${speed}`;
}

const COLUMNS = [
  ...[1, 4, 16, 60].map((clients) => ({ title: `${clients} at once`, clients, each: 1, runs: 100 })),
  { title: '16 clients all the time', clients: 16, each: 60, runs: 1 },
];

for (const cancels of [true, false]) {
  console.log(
    `\n${cancels ? 'DynamoDB' : 'DynamoDB Local'}: transactions / write units / read units of an upload / speed\n`,
  );
  console.log(`| | ${COLUMNS.map(({ title }) => title).join(' | ')} |\n| --- |${' --- |'.repeat(COLUMNS.length)}`);
  for (const [name, upload] of Object.entries(VARIANTS)) {
    const cells: string[] = [];
    for (const column of COLUMNS) cells.push(await simulate(upload, column, cancels));
    console.log(`| ${name} | ${cells.join(' | ')} |`);
  }
}
