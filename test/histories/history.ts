import { randomUUID } from 'node:crypto';
import { GetObjectCommand, ListMultipartUploadsCommand, ListObjectsV2Command, NoSuchKey } from '@aws-sdk/client-s3';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { readBooks } from '../support/books.ts';
import type { Operator } from '../support/operator.ts';
import { FAULTS, type Outcome } from '../shared/files/faults.ts';
import { BUCKET } from '../shared/files/service.ts';
import { type Credential, Disagreement, isUnknown, LATE_MS, Model, type Page, type Upload } from './model.ts';
import { type Answer, LIMITS, NO_ANSWER, type World } from './world.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const which = fc.nat(7);
const size = fc.nat(9);
const word = fc.constantFrom('a', 'B', 'Ab');
const key = fc.option(fc.constantFrom('k1', 'k2'), { freq: 2 });

const ACTIONS = {
  form: [5, fc.record({ word, size, key, isStream: fc.boolean() })],
  ticket: [3, fc.record({ word, size, key })],
  again: [3, fc.record({ which })],
  put: [4, fc.record({ which, isLost: fc.boolean() })],
  complete: [4, fc.record({ which })],
  event: [3, fc.record({ which, isRepeated: fc.boolean() })],
  cancel: [2, fc.record({ which })],
  delete: [4, fc.record({ which })],
  list: [2, fc.record({ page: fc.integer({ min: 1, max: 3 }), limit: fc.constantFrom(1, 2, 100), search: fc.option(word) })],
  usage: [1, fc.record({})],
  sweep: [3, fc.record({})],
  wait: [3, fc.record({ ms: fc.constantFrom(20 * SECOND_MS, MINUTE_MS, 10 * MINUTE_MS, 25 * MINUTE_MS, 23 * HOUR_MS, 26 * HOUR_MS, 8 * DAY_MS) })],
  late: [2, fc.record({})],
  resume: [3, fc.record({})],
} as const;

type Actions = typeof ACTIONS;
type ActionName = keyof Actions;
type ActionOf<Name extends ActionName> = { [N in Name]: Actions[N][1] extends fc.Arbitrary<infer Fields> ? Fields & { do: N } : never }[Name];

const action = fc.oneof(
  ...Object.entries(ACTIONS).map(([name, [weight, fields]]) => ({
    weight,
    arbitrary: (fields as fc.Arbitrary<object>).map((more) => ({ do: name, ...more })) as fc.Arbitrary<ActionOf<ActionName>>,
  })),
);

const fault = fc.record({
  fault: fc.constantFrom(...FAULTS, 'pauses before' as const, 'pauses after' as const),
  nth: fc.integer({ min: 1, max: 10 }),
});

/** One thing that happens, and what goes wrong meanwhile. */
const step = fc.record({
  account: fc.nat(1),
  action,
  fault: fc.option(fault, { freq: 2 }),
  /** How far the clock of this machine is ahead of the others. */
  aheadMs: fc.constantFrom(0, 0, 1_400, -1_400),
});

export type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;
export const history = fc.array(step, { minLength: 1, maxLength: 40, size: 'max' });

/** A request or event: how it is made, and what its answer says to the model. */
interface Operation {
  readonly text: string;
  readonly work: () => Promise<Answer | undefined>;
  readonly learn: (answer: Answer, isLate: boolean) => void;
  /** True if it may fail without a fault of its own. */
  readonly mayFail?: boolean;
}

interface Account {
  readonly id: string;
  readonly model: Model;
}

type ApplyFault = Awaited<ReturnType<typeof import('../shared/files/faults.ts').faultsOfProduct>>;

/** Runs one history. */
export class Run {
  readonly #world: World;
  readonly #applyFault: ApplyFault;
  readonly #accounts: Account[] = [];
  #late: (() => Promise<void>)[] = [];
  #paused: { outcome: Outcome; since: number; text: string; learn: () => void }[] = [];
  readonly #events: { key: string; upload: Upload; account: Account }[] = [];
  /** What happened, for people. */
  readonly transcript: string[] = [];

  constructor(world: World, applyFault: ApplyFault) {
    this.#world = world;
    this.#applyFault = applyFault;
  }

  async run(steps: readonly Step[]): Promise<void> {
    for (const _ of [0, 1]) this.#accounts.push(await this.#newAccount());
    for (const one of steps) await this.#step(one);
    await this.#end();
  }

  async #newAccount(): Promise<Account> {
    const { stores, clock } = this.#world;
    const id = randomUUID();
    await stores.accounts.upsert({ id, email: `${id}@example.com`, name: 'Somebody' }, clock.now());
    const account = { id, model: new Model(LIMITS, clock.now) };
    account.model.keys.push(await this.#world.newKey(id, 'the key'));
    return account;
  }

  async #step({ account: index, action, fault, aheadMs }: Step): Promise<void> {
    const account = this.#accounts[index] as Account;
    this.#world.clock.pass(2 * SECOND_MS);
    const operation = this.#operation(account, action);
    if (!operation) return;
    account.model.step++;
    const { text, work, learn, mayFail = false } = operation;
    let answer = NO_ANSWER;
    const outcome = await this.#applyFault(
      fault?.fault ?? 'dies before',
      fault?.nth ?? Number.POSITIVE_INFINITY,
      async () => {
        answer = (await this.#world.clock.on(aheadMs, work)) ?? NO_ANSWER;
      },
      { mayNotApply: true },
    );
    const isFaulty = fault && outcome.calls >= fault.nth;
    const what = `account ${index}: ${text}${isFaulty ? ` ${fault.fault} call ${fault.nth}` : ''}`;
    this.transcript.push(`${what} → ${answer.status} ${JSON.stringify(answer.body)}`);
    if (isUnknown(answer) && !mayFail && (!isFaulty || fault.fault === 'happens again late')) {
      throw new Disagreement(`it fails without a reason: ${JSON.stringify(answer.body)}`);
    }
    learn(answer, false);
    this.#late.push(outcome.happenLate);
    if (outcome.end !== 'pause') return;
    const since = this.#world.clock.now();
    this.#paused.push({ outcome, since, text, learn: () => learn(answer, true) });
  }

  #operation(account: Account, action: ActionOf<ActionName>): Operation | undefined {
    const { model } = account;
    const who = model.keys.find((one) => model.isValid(one)) ?? model.keys[0];
    if (!who) return undefined;
    const credential = who.header ?? {};
    const pick = (all: readonly Upload[], index: number) => all[index % all.length];
    const { request } = this.#world;
    switch (action.do) {
      case 'form':
      case 'ticket': {
        const via = action.do;
        const name = `${action.word} ${model.uploads.length}.txt`;
        const content = String(model.uploads.length).padEnd(action.size, 'x').slice(0, action.size);
        const upload = model.newUpload({ name, content, via, key: action.key ?? undefined, isStream: action.do === 'form' && action.isStream });
        return this.#upload(account, who, upload);
      }
      case 'again': {
        const upload = pick(model.uploads.filter((one) => one.key !== undefined && model.mayRepeat(one)), action.which);
        return upload && this.#upload(account, who, upload);
      }
      case 'put': {
        const upload = pick(model.uploads.filter(({ put }) => put), action.which);
        if (!upload?.put) return undefined;
        const { url, headers } = upload.put;
        return {
          text: `PUT ${upload.name}${action.isLost ? ', and the answer is lost' : ''}`,
          mayFail: true,
          work: async () => {
            const response = await fetch(url, { method: 'PUT', headers, body: upload.content });
            await response.arrayBuffer();
            for (const key of this.#world.arrived.splice(0)) this.#events.push({ key, upload, account });
            return { ...NO_ANSWER, status: action.isLost ? 0 : response.status };
          },
          learn: ({ status }, isLate) => {
            if (!isLate) model.answerPut(upload, status);
          },
        };
      }
      case 'complete': {
        const upload = pick(model.uploads.filter(({ via, id }) => via === 'ticket' && id !== undefined), action.which);
        if (!upload) return undefined;
        return {
          text: `complete ${upload.name}`,
          mayFail: upload.file === 'unborn?',
          work: () => request('completeUpload', { credential, id: upload.id }),
          learn: (answer, isLate) => model.answerCompletion(upload, who, answer, isLate),
        };
      }
      case 'cancel': {
        const upload = pick(model.uploads.filter(({ via, id }) => via === 'ticket' && id !== undefined), action.which);
        if (!upload) return undefined;
        return {
          text: `cancel ${upload.name}`,
          work: () => request('cancelUpload', { credential, id: upload.id }),
          learn: (answer, isLate) => model.answerCancellation(upload, who, answer, isLate),
        };
      }
      case 'delete': {
        const upload = pick(model.uploads.filter(({ id }) => id !== undefined), action.which);
        if (!upload) return undefined;
        return {
          text: `delete ${upload.name}`,
          work: () => request('deleteFile', { credential, id: upload.id }),
          learn: (answer, isLate) => model.answerDeletion(upload, who, answer, isLate),
        };
      }
      case 'event': {
        const index = action.which % this.#events.length;
        const event = this.#events[index];
        if (!event) return undefined;
        if (!action.isRepeated) this.#events.splice(index, 1);
        return this.#deliver(event);
      }
      case 'list':
        return this.#list(account, who, { ...action, search: action.search ?? undefined });
      case 'usage':
        return this.#usage(account, who);
      case 'sweep':
        return this.#sweep();
      case 'wait':
        return {
          text: `wait ${action.ms / MINUTE_MS} minutes`,
          work: async () => {
            await this.#wait(action.ms);
            return { ...NO_ANSWER, status: 200 };
          },
          learn: () => {},
        };
      case 'late':
        return { text: 'a late call happens', work: async () => (await this.#late.shift()?.(), { ...NO_ANSWER, status: 200 }), learn: () => {} };
      case 'resume':
        return { text: `resume ${this.#paused[0]?.text}`, work: async () => (await this.#resume(), { ...NO_ANSWER, status: 200 }), learn: () => {} };
    }
  }

  #upload({ model }: Account, who: Credential, upload: Upload): Operation {
    const { name, content, via, key, isStream } = upload;
    const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
    const common = { credential: who.header ?? {}, headers };
    const json = { name, mime_type: 'text/plain', size_bytes: content.length };
    return {
      text: `${via === 'ticket' ? 'ticket for' : isStream ? 'stream' : 'upload'} ${name} (${content.length} bytes${key ? `, key ${key}` : ''})`,
      work: () =>
        via === 'ticket'
          ? this.#world.request('createUpload', { ...common, json })
          : this.#world.request('uploadFile', { ...common, form: { name, content, isStream } }),
      learn: (answer, isLate) => model.answerUpload(upload, who, answer, isLate),
    };
  }

  #deliver(event: { key: string; upload: Upload; account: Account }): Operation {
    const { key, upload, account } = event;
    return {
      text: `the event of ${upload.name}`,
      mayFail: upload.file === 'unborn?',
      work: async () => {
        await this.#world.deliver(key);
        return { ...NO_ANSWER, status: 200 };
      },
      learn: ({ status }, isLate) => {
        if (!isLate) account.model.answerEvent(upload, status === 200, key.endsWith(`/${upload.id}`));
        if (!isLate && status !== 200) this.#events.push(event);
      },
    };
  }

  #list({ model }: Account, who: Credential, page: Page, isQuiet = false): Operation {
    const query = { page: String(page.page), limit: String(page.limit), ...(page.search !== undefined && { search: page.search }) };
    return {
      text: `list ${JSON.stringify(query)}`,
      work: () => this.#world.request('listFiles', { credential: who.header ?? {}, query }),
      learn: (answer, isLate) => {
        if (!isLate) model.answerList(page, who, answer, isQuiet);
      },
    };
  }

  #usage({ model }: Account, who: Credential, isExact = false): Operation {
    return {
      text: 'usage',
      work: () => this.#world.request('getUsage', { credential: who.header ?? {} }),
      learn: (answer, isLate) => {
        if (!isLate) model.answerUsage(who, answer, isExact);
      },
    };
  }

  #sweep(): Operation {
    return {
      text: 'sweep',
      work: async () => ({ ...NO_ANSWER, status: 200, body: await this.#world.sweep() }),
      learn: ({ status, body }, isLate) => {
        for (const { model } of this.#accounts) model.swept(!isLate && status === 200 && body.failed === 0);
      },
    };
  }

  /** Time passes. Before a longer time has passed, every request has ended, and every late call has happened. */
  async #wait(ms: number): Promise<void> {
    const { clock } = this.#world;
    if (ms >= 20 * SECOND_MS) while (this.#paused.length > 0) await this.#resume();
    if (ms >= LATE_MS) await this.#happenLate();
    clock.pass(ms);
    // The clocks of the machines do not stand on two sides of midnight.
    const untilMidnight = DAY_MS - (clock.now() % DAY_MS);
    if (untilMidnight < 10 * MINUTE_MS) clock.pass(untilMidnight + 10 * MINUTE_MS);
  }

  async #happenLate(): Promise<void> {
    for (const happenLate of this.#late.splice(0)) await happenLate();
  }

  async #resume(): Promise<void> {
    const paused = this.#paused.shift();
    if (!paused) return;
    // Lambda has ended it meanwhile.
    if (this.#world.clock.now() - paused.since > 20 * SECOND_MS) return paused.outcome.kill();
    await paused.outcome.resume();
    paused.learn();
  }

  async #do(operation: Operation): Promise<void> {
    const answer = (await operation.work()) ?? NO_ANSWER;
    this.transcript.push(`at the end: ${operation.text} → ${answer.status} ${JSON.stringify(answer.body)}`);
    if (isUnknown(answer)) throw new Disagreement('it fails without a reason');
    operation.learn(answer, false);
  }

  /** Everything comes to rest; then model and service must agree on everything. */
  async #end(): Promise<void> {
    await this.#wait(LATE_MS);
    for (const event of this.#events.splice(0)) await this.#do(this.#deliver(event));
    await this.#compare();
    await this.#wait(3 * HOUR_MS);
    for (const _ of [0, 1]) {
      await this.#do(this.#sweep());
      await this.#wait(LATE_MS);
    }
    await this.#compare(true);
    await this.#removeAll();
  }

  async #compare(isExact = false): Promise<void> {
    const { service } = this.#world;
    for (const account of this.#accounts) {
      const { model } = account;
      const who = model.keys.find((one) => model.isValid(one)) as Credential;
      model.step++;
      await this.#do(this.#list(account, who, { page: 1, limit: 100 }, true));
      await this.#do(this.#usage(account, who, isExact));
      for (const page of [1, 2, 3]) await this.#do(this.#list(account, who, { page, limit: 2 }));
      await this.#wait(2 * MINUTE_MS);
      for (const search of ['a', 'B', 'xyz']) await this.#do(this.#list(account, who, { page: 1, limit: 100, search }));
      for (const upload of model.uploads.filter(({ id }) => id)) await this.#compareFile(who, upload);
    }
    const { problems, unfinished } = await readBooks({ dynamoDb: service.engine, s3: service.s3, bucket: BUCKET, service } as unknown as Operator);
    const isForTheWalk = (problem: string) => problem.startsWith('no row refers to');
    const left = [...problems.filter((problem) => !isForTheWalk(problem)), ...(isExact ? unfinished : [])];
    if (left.length > 0) throw new Disagreement(left.join('; '));
  }

  async #compareFile(who: Credential, upload: Upload): Promise<void> {
    const { request, service, objectOf } = this.#world;
    const { name, content, file, record, id } = upload;
    await this.#wait(6 * SECOND_MS);
    const { status, body } = await request('getFile', { credential: who.header ?? {}, id });
    const isThere = file === 'yes' ? status === 200 && body.name === name : status === 404;
    if (!isThere) throw new Disagreement(`${name} is ${file}, but GET answers ${status}`);
    if (!record) return;
    const object = new GetObjectCommand({ Bucket: BUCKET, Key: objectOf(record.url) });
    const bytes = await service.s3.send(object).then(
      ({ Body }) => Body?.transformToString(),
      (error) => {
        if (error instanceof NoSuchKey) return undefined;
        throw error;
      },
    );
    if (file === 'yes' && bytes !== content) throw new Disagreement(`the link of ${name} gives ${bytes}`);
  }

  /** The operator deletes the accounts; then nothing is left. */
  async #removeAll(): Promise<void> {
    const { stores, service, sweep } = this.#world;
    const { deleteAccount } = await import('../../shared/administration/delete-account.ts');
    for (const { id } of this.#accounts) await deleteAccount(stores, id, { deadlineAt: Number.POSITIVE_INFINITY });
    for (const _ of [0, 1]) {
      await this.#wait(26 * HOUR_MS);
      await sweep();
    }
    const { Contents = [] } = await service.s3.send(new ListObjectsV2Command({ Bucket: BUCKET }));
    const { Uploads = [] } = await service.s3.send(new ListMultipartUploadsCommand({ Bucket: BUCKET }));
    const { Items = [] } = await service.engine.send(new ScanCommand({ TableName: service.tables.files }));
    const rows = Items.map(({ id }) => id?.S).filter((id) => id !== '#walk');
    const left = [...Contents, ...Uploads].map(({ Key }) => Key).concat(rows);
    if (left.length > 0) throw new Disagreement(`left behind: ${left.join(', ')}`);
  }
}
