import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { vi } from 'vitest';
import type { Item } from '../../../shared/aws/dynamodb.ts';
import { toBase62 } from '../../../shared/ids.ts';

/** How long the simulated AWS takes to answer, and how much of a whole processor a call takes. In milliseconds. */
export interface Speed {
  readonly databaseMs: number;
  readonly storageMs: number;
  readonly callCpuMs: number;
  /** For a page of 1,000 keys of the bucket. */
  readonly pageCpuMs: number;
}

/** A row of the table of files, by its keys. */
interface Row extends Item {
  readonly account_id: string;
  readonly id: string;
}

interface Input {
  readonly TableName?: string;
  readonly IndexName?: string;
  readonly Key?: Row | string;
  readonly Item?: Row;
  readonly Limit?: number;
  readonly ExclusiveStartKey?: Row;
  readonly StartAfter?: string;
  readonly ExpressionAttributeValues?: Readonly<Record<string, unknown>>;
  readonly TransactItems?: readonly {
    readonly Delete?: Input & { Key: Row };
    readonly Update?: Input & { Key: Row };
  }[];
}

interface Event {
  readonly at: number;
  readonly wake: () => void;
}

const INDEX = 'unfinished';
/** Keys on a page of the bucket. */
const PAGE = 1_000;
/** How many of the characters of a key the simulation uses, and how many keys these can tell apart. */
const DIGITS = 8;
const KEYS = 62 ** DIGITS;
const BASE62 = Array.from({ length: 62 }, (_, digit) => toBase62(digit, 1)).join('');

/** An account id, whose last digits are as evenly distributed as those of a hash. */
export const accountOf = (number: number) => `00000000-0000-5000-8000-${number.toString(16).padStart(12, '0')}`;

/**
 * The tables and the bucket as the sweeper uses them, in the place where the SDK would send a request. A call takes simulated time: the clock of the
 * process jumps to the next event. So a minute takes only as long as its calls need the real processor, and results do not depend on the
 * machine. A simulated processor serves one call after the other. Conditions are not checked, because nothing else writes.
 */
export class SimulatedAws {
  /** The calls, by the names of their commands. */
  readonly calls = new Map<string, number>();
  /** Rows with a sort key that says when they are due, by partition and in the order of that key. */
  readonly #rows = new Map<string, Map<string, Row>>();
  readonly #partitionOf = new Map<string, string>();
  readonly #walks = new Map<string, Row>();
  #objects = { count: 0, storedAt: 0 };
  #events: Event[] = [];
  #now: number;
  readonly #speed: Speed;
  readonly #processor = new AsyncLocalStorage<{ freeAt: number; readonly share: number }>();

  constructor(speed: Speed, now: number) {
    this.#speed = speed;
    this.#now = now;
    // Time limits of calls would end by the real clock.
    if (!vi.isFakeTimers()) vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    vi.spyOn(Date, 'now').mockImplementation(() => this.#now);
  }

  /** Answers all calls of these clients. Not as a middleware: a million calls would take minutes of the real processor. */
  takeThePlaceOf(...clients: object[]): void {
    for (const client of clients as { send: (command: { readonly input: Input }) => Promise<object> }[]) {
      vi.spyOn(client, 'send').mockImplementation((command) => this.#answer(command.constructor.name, command.input));
    }
  }

  addTicket(row: Item): void {
    this.#add(String(row.account_id), row as Row);
  }

  /** Adds a row of the index of unfinished work. */
  addWork(row: Item): void {
    this.#add(`${INDEX} ${row.work_shard}`, row as Row);
  }

  /** Gives the bucket objects of files, with keys that are evenly distributed. */
  fillBucket(count: number, storedAt: number): void {
    this.#objects = { count, storedAt };
  }

  /** Lets time pass until then. */
  async sleepUntil(at: number): Promise<void> {
    await new Promise<void>((wake) => this.#put({ at, wake }));
  }

  /** Runs work on a processor of its own, which is a share of a whole one. */
  on<Result>(share: number, work: () => Promise<Result>): Promise<Result> {
    return this.#processor.run({ freeAt: 0, share }, work);
  }

  /** Lets the clock jump from event to event until the work is done. */
  async run<Result>(work: Promise<Result>): Promise<Result> {
    let isDone = false;
    const end = () => {
      isDone = true;
    };
    work.then(end, end);
    for (;;) {
      await setImmediate();
      if (isDone) return work;
      const event = this.#take();
      if (!event) throw new Error('the work waits for something that the simulation does not know');
      this.#now = Math.max(this.#now, event.at);
      event.wake();
    }
  }

  async #answer(command: string, input: Input): Promise<object> {
    const operation = command.replace(/Command$/, '');
    this.calls.set(operation, (this.calls.get(operation) ?? 0) + 1);
    const isPage = operation === 'ListObjectsV2';
    const processor = this.#processor.getStore();
    if (!processor) throw new Error('a call without a processor');
    const { databaseMs, storageMs, callCpuMs, pageCpuMs } = this.#speed;
    processor.freeAt = Math.max(processor.freeAt, this.#now) + (isPage ? pageCpuMs : callCpuMs) / processor.share;
    await this.sleepUntil(processor.freeAt + ('Bucket' in input ? storageMs : databaseMs));
    return { $metadata: {}, ...this.#result(operation, input) };
  }

  #result(operation: string, input: Input): object {
    const { Key, ExpressionAttributeValues: values = {} } = input;
    switch (operation) {
      case 'Query':
        return this.#query(input);
      case 'Scan':
        return this.#scan(input);
      case 'Get':
        return { Item: this.#row(input) };
      case 'Put':
        if (input.Item) this.#walks.set(input.Item.id, input.Item);
        return {};
      case 'Update':
        return { Attributes: this.#lease(Key as Row, Number(values[':lease'])) };
      case 'Delete':
        this.#remove(Key as Row);
        return {};
      case 'TransactWrite':
        for (const { Delete, Update } of input.TransactItems ?? []) {
          if (Delete) this.#remove(Delete.Key);
          // The sweeper ends a ticket in this way.
          const row = Update && this.#find(Update.Key);
          if (row) this.#add(row.account_id, { ...row, state: String(Update.ExpressionAttributeValues?.[':state']) });
        }
        return {};
      case 'ListObjectsV2':
        return this.#page(input.StartAfter);
      case 'HeadObject':
        return { Metadata: { file: `${accountOf(0)}/${accountOf(placeOf(String(Key)))}` } };
      case 'DeleteObject':
      case 'ListMultipartUploads':
        return {};
      default:
        throw new Error(`the simulation does not know ${operation}`);
    }
  }

  #query({ IndexName, Limit, ExclusiveStartKey: start, ExpressionAttributeValues: values = {} }: Input): object {
    if (IndexName === 'by_seq') {
      const [low, high] = [Number(values[':low']), Number(values[':high'])];
      return { Items: Array.from({ length: high - low + 1 }, (_, at) => fileRow(high - at)) };
    }
    if (values[':walk'] !== undefined) return { Items: [...this.#walks.values()] };
    const isWork = IndexName === INDEX;
    const Items: Row[] = [];
    for (const row of this.#rows
      .get(String(isWork ? `${INDEX} ${values[':shard']}` : values[':partition']))
      ?.values() ?? []) {
      if (isWork ? Number(row.work_due_at) > Number(values[':now']) : row.id >= String(values[':time'])) break;
      if (start && row.id <= start.id) continue;
      Items.push(row);
      if (Items.length === Limit) return { Items, LastEvaluatedKey: row };
    }
    return { Items };
  }

  /** A page of the index of unfinished work. */
  #scan({ Limit, ExpressionAttributeValues: values = {} }: Input): object {
    const rows = [...this.#rows].flatMap(([partition, own]) => (partition.startsWith(INDEX) ? [...own.values()] : []));
    const Items = rows.slice(0, Limit).filter(({ work_due_at: dueAt }) => Number(dueAt) <= Number(values[':now']));
    return { Items, ...(Limit !== undefined && rows.length > Limit && { LastEvaluatedKey: rows[Limit - 1] }) };
  }

  #row({ TableName, Key }: Input): Item | undefined {
    const { account_id: partition, id } = Key as Row;
    if (TableName === process.env.ACCOUNTS_TABLE) return { ...ACCOUNT, id: String(id) };
    if (partition === '#walk') return this.#walks.get(id);
    const added = this.#find(Key as Row);
    if (added) return added;
    return { ...fileRow(0), id, object_key: keyAt(Number.parseInt(id.slice(24), 16)) };
  }

  /** Moves a row behind all others of its partition. */
  #lease(key: Row, dueAt: number): Row | undefined {
    const row = this.#find(key);
    if (!row) return undefined;
    this.#remove(key);
    const leased = { ...row, work_due_at: dueAt };
    this.addWork(leased);
    return leased;
  }

  #find(key: Row): Row | undefined {
    return this.#rows.get(this.#partitionOf.get(nameOf(key)) ?? '')?.get(nameOf(key));
  }

  #add(partition: string, row: Row): void {
    const rows = this.#rows.get(partition) ?? new Map<string, Row>();
    this.#rows.set(partition, rows.set(nameOf(row), row));
    this.#partitionOf.set(nameOf(row), partition);
  }

  #remove(key: Row): void {
    const partition = this.#partitionOf.get(nameOf(key));
    if (partition === undefined) return;
    this.#rows.get(partition)?.delete(nameOf(key));
    this.#partitionOf.delete(nameOf(key));
  }

  #page(after = ''): object {
    const { count, storedAt } = this.#objects;
    const distance = Math.floor(KEYS / count);
    const first = after < PREFIX ? 0 : Math.floor(placeOf(after) / distance) + 1;
    const length = Math.min(PAGE, Math.max(0, count - first));
    const Contents = Array.from({ length }, (_, at) => ({
      Key: keyAt((first + at) * distance),
      Size: 1,
      LastModified: new Date(storedAt),
    }));
    return { Contents, IsTruncated: first + length < count };
  }

  // The events are a heap, the earliest first.

  #put(event: Event): void {
    let place = this.#events.push(event) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = this.#events[parent] as Event;
      if (above.at <= event.at) break;
      this.#events[place] = above;
      place = parent;
    }
    this.#events[place] = event;
  }

  #take(): Event | undefined {
    const first = this.#events[0];
    const last = this.#events.pop();
    if (!last || this.#events.length === 0) return first;
    let place = 0;
    for (let child = 1; child < this.#events.length; child = 2 * place + 1) {
      const other = this.#events[child + 1];
      if (other && other.at < (this.#events[child] as Event).at) child++;
      const below = this.#events[child] as Event;
      if (below.at >= last.at) break;
      this.#events[place] = below;
      place = child;
    }
    this.#events[place] = last;
    return first;
  }
}

const PREFIX = 'uploads/';
const keyAt = (place: number) => PREFIX + toBase62(place, DIGITS);

/** The place of a key among all keys. A shorter key is before all that begin with it. */
function placeOf(key: string): number {
  const digits = key.slice(PREFIX.length);
  const place = [...digits.padEnd(DIGITS, '0')].reduce((sum, digit) => sum * 62 + BASE62.indexOf(digit), 0);
  return digits.length < DIGITS ? place - 1 : place;
}

const nameOf = ({ account_id, id }: Row) => `${account_id} ${id}`;

/** An account with so many files that all its leaves are full. */
const ACCOUNT: Item = {
  email: 'a@example.com',
  name: 'Somebody',
  created_at: 0,
  storage_used_bytes: 0,
  file_count: 1e9,
  next_seq: 1e9,
  last_file_at: 0,
};

const fileRow = (seq: number): Item => ({
  account_id: accountOf(0),
  id: accountOf(seq),
  state: 'ready',
  via: 'form',
  name: `photo-${seq}.jpeg`,
  mime_type: 'image/jpeg',
  size_bytes: 1,
  object_key: keyAt(0),
  created_at: 0,
  seq,
});
