import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, ListMultipartUploadsCommand, ListObjectsV2Command, NoSuchKey } from '@aws-sdk/client-s3';
import type { FileRecord } from '../../../shared/contract/answers.ts';
import { readBooks } from '../../support/books.ts';
import type { Operator } from '../../support/operator.ts';
import type { faultsOfProduct, Outcome } from '../files/faults.ts';
import { BUCKET } from '../files/service.ts';
import { type Answer, type Credential, Disagreement, isUnknown, LATE_MS, NO_ANSWER } from './access.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from './clock.ts';
import { LIMITS } from './limits.ts';
import { Model, type Page, type Upload } from './model.ts';
import type { Action, History, Step } from './steps.ts';
import type { World } from './world.ts';

/** A request or event: how it is made, and what its answer says to the model. */
interface Operation {
  readonly text: string;
  readonly work: () => Promise<Answer | undefined>;
  readonly learn: (answer: Answer, isLate: boolean) => void;
  /** True if it may fail without a fault of its own. */
  readonly mayFail?: boolean;
  /** The upload that it is about. Without an answer, its client may look what has become of it. */
  readonly about?: Upload;
  /** True for an operator, who repeats what has failed. */
  readonly isOperator?: boolean;
}

/** A late answer about the ticket before this one says nothing of this one. */
function about(upload: Upload, learn: Operation['learn']): Operation['learn'] {
  const { id } = upload;
  return (answer, isLate) => {
    if (upload.id === id) learn(answer, isLate);
  };
}

interface Account {
  readonly id: string;
  readonly model: Model;
}

type ApplyFault = Awaited<ReturnType<typeof faultsOfProduct>>;

/** Runs one history. */
export class Run {
  readonly #world: World;
  readonly #applyFault: ApplyFault;
  readonly #accounts: Account[] = [];
  /** Each action with the status of its answer. */
  readonly answers = new Set<string>();
  #late: (() => Promise<void>)[] = [];
  /** The objects that a late call may have written again after their deletion. The walk of the bucket removes them. */
  readonly #lateKeys = new Set<string | undefined>();
  #paused: { outcome: Outcome; since: number; text: string; learn: () => void }[] = [];
  readonly #events: { key: string; upload: Upload; account: Account }[] = [];
  /** What happened, for people. */
  readonly transcript: string[] = [];

  constructor(world: World, applyFault: ApplyFault) {
    this.#world = world;
    this.#applyFault = applyFault;
  }

  async run({ age, steps }: History): Promise<void> {
    for (const files of [age, 0]) this.#accounts.push(await this.#newAccount(files));
    for (const one of steps) await this.#step(one);
    await this.#end();
  }

  async #newAccount(files: number): Promise<Account> {
    const { stores, clock, request } = this.#world;
    const id = this.#world.newAccountId();
    await stores.accounts.upsert({ id, email: `${id}@example.com`, name: 'Somebody' }, clock.now());
    const account = { id, model: new Model(LIMITS, clock.now) };
    const key = await this.#world.newKey(id, 'the key');
    for (let index = 0; index < files; index++) {
      const form = { name: 'old', content: '', isStream: false };
      const { body } = await request('uploadFile', { credential: key.header ?? {}, form });
      await request('deleteFile', { credential: key.header ?? {}, id: body.id });
      clock.pass(10 * SECOND_MS);
    }
    clock.pass(MINUTE_MS);
    account.model.keys.push(key);
    const times = { madeAt: clock.now(), usedAt: clock.now() };
    const header = (await this.#world.logIn(id)) ?? {};
    account.model.sessions.push({ name: 'the session', header, exists: 'yes', ...times });
    return account;
  }

  async #step({ account: index, action, by, fault: wanted, aheadMs }: Step): Promise<void> {
    const account = this.#accounts[index] as Account;
    this.#world.clock.pass(2 * SECOND_MS);
    const operation = this.#operation(account, action, by);
    if (!operation) return;
    account.model.step++;
    const { text, work, learn, about, mayFail = false, isOperator = false } = operation;
    // What an operator does is not undone by a late call, because the operator waits, and repeats it.
    const fault = isOperator && /late|pauses/.test(wanted?.fault ?? '') ? null : wanted;
    let answer = NO_ANSWER;
    const outcome = await this.#applyFault(
      fault?.fault ?? 'dies before',
      fault?.nth ?? Number.POSITIVE_INFINITY,
      async () => {
        answer = (await this.#world.clock.on(aheadMs, work)) ?? NO_ANSWER;
      },
      { mayNotApply: true },
    );
    if (isOperator && outcome.end !== 'success') answer = (await work()) ?? NO_ANSWER;
    const isFaulty = fault && outcome.calls >= fault.nth;
    this.#tell(`${index}: ${text}${isFaulty ? `, ${fault.fault} call ${fault.nth}` : ''}`, answer);
    if (isUnknown(answer) && !mayFail && (!isFaulty || fault.fault === 'happens again late')) {
      throw new Disagreement(`it fails without a reason: ${JSON.stringify(answer.body)}`);
    }
    this.answers.add(`${action.do} ${answer.status}`);
    learn(answer, false);
    if (about && isUnknown(answer) && account.model.step % 2 === 0) await this.#look(account, about);
    if (isFaulty && fault.fault.endsWith('late')) {
      this.#late.push(() => this.#happen(outcome));
      this.#lateKeys.add(outcome.lateKey);
    }
    if (outcome.end !== 'pause') return;
    const since = this.#world.clock.now();
    const learnLate = () => {
      account.model.lateCall();
      learn(answer, true);
    };
    this.#paused.push({ outcome, since, text, learn: learnLate });
  }

  async #look(account: Account, upload: Upload): Promise<void> {
    const who = this.#credential(account, 'session', 0);
    if (who && upload.id !== undefined) await this.#do(this.#get(account, who, upload));
  }

  #tell(what: string, { status, body }: Answer): void {
    const told =
      body.error ?? (body.items ? body.items.map(({ name }: { name: string }) => name) : body.storage_used_bytes);
    this.transcript.push(`${what} → ${status} ${told === undefined ? '' : JSON.stringify(told)}`);
  }

  #credential({ model }: Account, by: Step['by'], which: number): Credential | undefined {
    const { keys, sessions } = model;
    const all = [...keys, ...sessions].filter(({ header }) => header);
    if (by === 'any') return all[which % all.length];
    const valid = (one: Credential) => model.isValid(one) === true && one.header;
    return (by === 'session' ? sessions.findLast(valid) : undefined) ?? keys.find(valid) ?? sessions.findLast(valid);
  }

  #operation(account: Account, action: Action, by: Step['by']): Operation | undefined {
    const { model } = account;
    const { clock } = this.#world;
    const who = this.#credential(account, by, model.step);
    const session = this.#credential(account, 'session', 0);
    if (!who) return this.#operatorAction(account, action);
    const credential = who.header ?? {};
    const pick = (isMeant: (one: Upload) => unknown) => {
      const meant = model.uploads.filter(isMeant).toReversed();
      return 'which' in action ? meant[action.which % meant.length] : undefined;
    };
    const { request } = this.#world;
    switch (action.do) {
      case 'form':
      case 'ticket': {
        const via = action.do;
        const name = `${action.word} ${model.uploads.length}.txt`;
        const content = String(model.uploads.length).padEnd(action.size, 'x').slice(0, action.size);
        const upload = model.newUpload({
          name,
          content,
          via,
          key: action.key ?? undefined,
          isStream: action.do === 'form' && action.isStream,
        });
        return this.#upload(account, who, upload);
      }
      case 'again': {
        const upload = pick((one) => one.key !== undefined && model.mayRepeat(one));
        return upload && this.#upload(account, who, upload);
      }
      case 'put': {
        const upload = pick(({ put }) => put);
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
        const upload = pick(({ via, id }) => via === 'ticket' && id !== undefined);
        if (!upload) return undefined;
        return {
          text: `complete ${upload.name}`,
          about: upload,
          mayFail: upload.file === 'unborn?',
          work: () => request('completeUpload', { credential, id: upload.id }),
          learn: about(upload, (answer, isLate) => model.answerCompletion(upload, who, answer, isLate)),
        };
      }
      case 'cancel': {
        const upload = pick(({ via, id }) => via === 'ticket' && id !== undefined);
        if (!upload) return undefined;
        return {
          text: `cancel ${upload.name}`,
          about: upload,
          work: () => request('cancelUpload', { credential, id: upload.id }),
          learn: about(upload, (answer, isLate) => model.answerCancellation(upload, who, answer, isLate)),
        };
      }
      case 'delete': {
        const upload = pick(({ id, file }) => id !== undefined && (action.mayBeGone || file !== 'no'));
        if (!upload) return undefined;
        return {
          text: `delete ${upload.name}`,
          about: upload,
          work: () => request('deleteFile', { credential, id: upload.id }),
          learn: about(upload, (answer, isLate) => model.answerDeletion(upload, who, answer, isLate)),
        };
      }
      case 'get': {
        const upload = pick(({ id }) => id !== undefined);
        return upload && this.#get(account, who, upload);
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
      case 'late': {
        const [happen] = this.#late.splice(action.which % Math.max(1, this.#late.length), 1);
        return happen && this.#event('a late call happens', happen);
      }
      case 'resume':
        return this.#paused[0] && this.#event(`resume: ${this.#paused[0].text}`, () => this.#resume());
      case 'foreign': {
        const other = this.#accounts.find((one) => one !== account) as Account;
        const upload = pick(({ id }) => id !== undefined);
        const stranger = this.#credential(other, 'key', 0);
        if (!upload || !stranger) return undefined;
        return {
          text: `another account: ${action.route} ${upload.name}`,
          work: () => request(action.route, { credential: stranger.header ?? {}, id: upload.id }),
          learn: (answer, isLate) => {
            if (isLate || !other.model.admits('REQUESTS', stranger, answer) || answer.status === 404) return;
            throw new Disagreement(`another account gets ${answer.status}`);
          },
        };
      }
      case 'new key': {
        if (!session?.header?.cookie) return undefined;
        const made: Credential = {
          name: `key ${model.keys.length}`,
          exists: 'unborn?',
          madeAt: clock.now(),
          usedAt: clock.now(),
        };
        model.keys.push(made);
        return {
          text: `make ${made.name}`,
          work: () => request('createApiKey', { credential: session.header ?? {}, json: { name: made.name } }),
          learn: (answer, isLate) => model.answerNewKey(made, session, answer, isLate),
        };
      }
      case 'list keys':
        return this.#listKeys(account, session);
      case 'revoke': {
        const revoked = model.keys.filter(({ id }) => id !== undefined)[action.which % model.keys.length];
        if (!session?.header?.cookie || !revoked) return undefined;
        return {
          text: `revoke ${revoked.name}`,
          work: () => request('revokeApiKey', { credential: session.header ?? {}, id: revoked.id }),
          learn: (answer, isLate) => model.answerRevocation([revoked], session, answer, isLate),
        };
      }
      case 'logout':
        if (!session?.header?.cookie) return undefined;
        return {
          text: `log out of ${session.name}`,
          work: () => request('logout', { credential: session.header ?? {} }),
          learn: (answer, isLate) => model.answerRevocation([session], session, answer, isLate),
        };
      case 'end sessions':
        if (action.isOperator) return this.#operatorAction(account, action);
        if (!session?.header?.cookie) return undefined;
        return {
          text: 'end all sessions',
          work: () => request('endSessions', { credential: session.header ?? {} }),
          learn: (answer, isLate) => model.answerRevocation(model.sessions, session, answer, isLate),
        };
      default:
        return this.#operatorAction(account, action);
    }
  }

  /** What needs no credential of the account. */
  #operatorAction(account: Account, action: Action): Operation | undefined {
    const { model, id } = account;
    const { stores, clock, operator } = this.#world;
    const deadline = { deadlineAt: clock.now() + HOUR_MS };
    const act = (text: string, work: () => Promise<unknown>, learn: (isDone: boolean) => void): Operation => ({
      text: `operator: ${text}`,
      isOperator: true,
      work: async () => ({ ...NO_ANSWER, status: (await work()) === false ? 404 : 200 }),
      learn: ({ status }) => learn(status === 200),
    });
    if (model.isGone && !['login', 'expire', 'sweep', 'wait'].includes(action.do)) return undefined;
    switch (action.do) {
      case 'login': {
        const made: Credential = {
          name: `session ${model.sessions.length}`,
          exists: 'no',
          madeAt: clock.now(),
          usedAt: clock.now(),
        };
        return {
          text: `log in: ${made.name}`,
          work: async () => {
            const header = await this.#world.logIn(id);
            return { ...NO_ANSWER, status: header ? 200 : 401, body: { header } };
          },
          learn: ({ status, body }, isLate) => {
            if (status === 200) model.sessions.push({ ...made, header: body.header, exists: 'yes' });
            if (status === 200) model.isGone = false;
            if (status === 401 && !isLate && !model.isSuspended) throw new Disagreement('the account is not suspended');
            if (status === 200 && !isLate && model.isSuspended) throw new Disagreement('the account is suspended');
          },
        };
      }
      case 'suspend':
        return act(
          'suspend',
          () => operator.suspendAccount(stores, id, deadline),
          () => model.suspended(),
        );
      case 'restore':
        return act(
          'restore',
          () => operator.restoreAccount(stores, id, deadline),
          () => {
            model.isSuspended = false;
          },
        );
      case 'end sessions':
        return act(
          'end sessions',
          () => stores.sessions.removeAll(id),
          () => model.endSessions(),
        );
      case 'set limit':
        return act(
          `set limit ${action.bytes}`,
          () => stores.administration.setStorageLimit(id, action.bytes),
          () => {
            model.setLimit(action.bytes);
          },
        );
      case 'take down': {
        const upload = model.uploads.filter(({ record }) => record)[action.which % model.uploads.length];
        if (!upload?.record || upload.file === 'unborn?') return undefined;
        const key = this.#world.objectOf(upload.record.url);
        const takeDown = async () => {
          const published = await operator.findPublished(stores, key);
          if (published) await operator.takeDown(stores, published, deadline);
        };
        return act(`take down ${upload.name}`, takeDown, () => {
          upload.file = 'no';
        });
      }
      case 'reconcile':
        return act(
          'reconcile',
          async () => {
            const reports = await Array.fromAsync(operator.reconcile(stores, { accountId: id, repair: true }));
            const problems = reports.flatMap(({ differences }) => differences);
            if (problems.length > 0) throw new Disagreement(`the operator finds ${JSON.stringify(problems)}`);
          },
          () => {},
        );
      case 'delete account':
        return act(
          'delete account',
          async () => {
            await this.#wait(LATE_MS);
            await operator.deleteAccount(stores, id, deadline).catch((error) => {
              if (error.code !== 'not_found') throw error;
            });
          },
          () => model.deleted(),
        );
      case 'expire':
        return this.#event(`rows that expired ${action.daysLate} days ago are removed`, () =>
          this.#world.expireRows(action.daysLate * DAY_MS),
        );
      case 'sweep':
        return this.#sweep(action.isWhole);
      case 'wait':
        return this.#event(`wait ${action.ms / MINUTE_MS} minutes`, () => this.#wait(action.ms));
      default:
        return undefined;
    }
  }

  #event(text: string, happen: () => Promise<void>): Operation {
    const work = async () => {
      await happen();
      return { ...NO_ANSWER, status: 200 };
    };
    return { text, work, learn: () => {}, isOperator: true };
  }

  #listKeys({ model }: Account, session: Credential | undefined, isQuiet = false): Operation | undefined {
    if (!session?.header?.cookie) return undefined;
    return {
      text: 'list keys',
      work: () => this.#world.request('listApiKeys', { credential: session.header ?? {} }),
      learn: (answer, isLate) => {
        if (!isLate) model.answerKeys(session, answer, isQuiet);
      },
    };
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

  #get({ model }: Account, who: Credential, upload: Upload): Operation {
    let content: string | undefined;
    return {
      text: `get ${upload.name}`,
      work: async () => {
        const answer = await this.#world.request('getFile', { credential: who.header ?? {}, id: upload.id });
        if (answer.status === 200) content = await this.#contentOf(answer.body);
        return answer;
      },
      learn: (answer, isLate) => {
        if (!isLate) model.answerFile(upload, who, answer, content);
      },
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
    const query = {
      page: String(page.page),
      limit: String(page.limit),
      ...(page.search !== undefined && { search: page.search }),
    };
    return {
      text: `list ${JSON.stringify(query)}`,
      work: () => this.#world.request('listFiles', { credential: who.header ?? {}, query }),
      learn: (answer, isLate) => {
        if (!isLate) model.answerList(page, who, answer, isQuiet);
      },
    };
  }

  #usage({ model }: Account, who: Credential, isExact = false): Operation | undefined {
    if (!who.header) return undefined;
    return {
      text: 'usage',
      work: () => this.#world.request('getUsage', { credential: who.header ?? {} }),
      learn: (answer, isLate) => {
        if (!isLate) model.answerUsage(who, answer, isExact);
      },
    };
  }

  #sweep(isWhole: boolean): Operation {
    return {
      text: isWhole ? 'sweep everything' : 'sweep',
      work: async () => ({ ...NO_ANSWER, status: 200, body: await this.#world.sweep(isWhole) }),
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

  async #happen({ happenLate }: Outcome): Promise<void> {
    await happenLate();
    for (const { model } of this.#accounts) model.lateCall();
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

  async #do(operation: Operation | undefined): Promise<void> {
    if (!operation) return;
    const answer = (await operation.work()) ?? NO_ANSWER;
    this.#tell(`then: ${operation.text}`, answer);
    if (isUnknown(answer)) throw new Disagreement('it fails without a reason');
    operation.learn(answer, false);
  }

  /** Everything comes to rest; then model and service must agree on everything. */
  async #end(): Promise<void> {
    // So that what is late meets what is gone.
    for (const account of this.#accounts) {
      account.model.step++;
      await this.#do(this.#operation(account, { do: 'revoke', which: 0 }, 'session'));
      await this.#do(this.#operation(account, { do: 'delete', which: 0, mayBeGone: false }, 'session'));
    }
    await this.#wait(LATE_MS);
    for (const account of this.#accounts) {
      await this.#do(this.#operatorAction(account, { do: 'restore' }));
      await this.#do(this.#operatorAction(account, { do: 'login' }));
    }
    for (const event of this.#events.splice(0)) await this.#do(this.#deliver(event));
    await this.#compare();
    await this.#wait(3 * HOUR_MS);
    for (const _ of [0, 1]) {
      await this.#do(this.#sweep(false));
      await this.#wait(LATE_MS);
    }
    await this.#compare(true);
    await this.#removeAll();
  }

  async #compare(isExact = false): Promise<void> {
    const { service } = this.#world;
    for (const account of this.#accounts) {
      const { model } = account;
      const who = this.#credential(account, 'session', 0) as Credential;
      model.step++;
      await this.#do(this.#list(account, who, { page: 1, limit: 100 }, true));
      await this.#do(this.#usage(account, who, isExact));
      await this.#do(this.#listKeys(account, who, true));
      if (!isExact) continue;
      for (const page of [1, 2]) await this.#do(this.#list(account, who, { page, limit: 2 }));
      for (const search of ['a', 'B']) await this.#do(this.#list(account, who, { page: 1, limit: 100, search }));
      for (const credential of [...model.keys, ...model.sessions]) {
        await this.#wait(7 * SECOND_MS);
        await this.#do(this.#usage(account, credential));
      }
      for (const upload of model.uploads.filter(({ id }) => id)) await this.#compareFile(who, upload);
    }
    const { problems, unfinished } = await readBooks({
      dynamoDb: service.engine,
      s3: service.s3,
      bucket: BUCKET,
      service,
    } as unknown as Operator);
    const isForTheWalk = (problem: string) => problem.startsWith('no row refers to');
    const left = [...problems.filter((problem) => !isForTheWalk(problem)), ...(isExact ? unfinished : [])];
    if (left.length > 0) throw new Disagreement(left.join('; '));
  }

  async #compareFile(who: Credential, upload: Upload): Promise<void> {
    const { request } = this.#world;
    const { name, content, file, record, id } = upload;
    await this.#wait(7 * SECOND_MS);
    const { status, body } = await request('getFile', { credential: who.header ?? {}, id });
    const isThere = file === 'yes' ? status === 200 && body.name === name : status === 404;
    if (!isThere) throw new Disagreement(`${name} is ${file}, but GET answers ${status}`);
    if (!record) return;
    const bytes = await this.#contentOf(record);
    const mayBeWrittenAgain = this.#lateKeys.has(this.#world.objectOf(record.url));
    const isRight = file === 'yes' ? bytes === content : bytes === undefined || mayBeWrittenAgain;
    if (!isRight) throw new Disagreement(`${name} is ${file}, but its link gives ${bytes}`);
  }

  /** What the link of a file gives: its object, or nothing. */
  async #contentOf({ url }: FileRecord): Promise<string | undefined> {
    const object = new GetObjectCommand({ Bucket: BUCKET, Key: this.#world.objectOf(url) });
    return this.#world.service.s3.send(object).then(
      ({ Body }) => Body?.transformToString(),
      (error) => {
        if (error instanceof NoSuchKey) return undefined;
        throw error;
      },
    );
  }

  /** The operator deletes the accounts; then nothing is left. */
  async #removeAll(): Promise<void> {
    const { stores, service, sweep, operator } = this.#world;
    const deadline = { deadlineAt: Number.POSITIVE_INFINITY };
    const objects = async () => (await service.s3.send(new ListObjectsV2Command({ Bucket: BUCKET }))).Contents ?? [];
    for (const { id } of this.#accounts) await operator.deleteAccount(stores, id, deadline);
    for (const _ of [0, 1]) {
      await this.#wait(26 * HOUR_MS);
      // Objects that no row refers to are found by the walk of their own shard.
      await sweep((await objects()).length > 0);
    }
    const { Uploads = [] } = await service.s3.send(new ListMultipartUploadsCommand({ Bucket: BUCKET }));
    const { Items = [] } = await service.engine.send(new ScanCommand({ TableName: service.tables.files }));
    const rows = Items.filter(({ account_id }) => account_id?.S !== '#walk').map(({ id }) => id?.S);
    const left = [...(await objects()), ...Uploads].map(({ Key }) => Key).concat(rows);
    if (left.length > 0) throw new Disagreement(`left behind: ${left.join(', ')}`);
  }
}
