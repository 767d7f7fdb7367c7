import type { FaultSubject } from '../../local-aws/service.ts';
import type { RouteName } from '../../shared/routes.ts';
import { readBooks } from '../support/books.ts';
import { applyToNth, type CallFault } from '../support/call-faults.ts';
import type { Operator } from '../support/operator.ts';
import type { TestAccount, TestService } from '../support/service.ts';

/**
 * Every call that the service makes to AWS, times everything that may go wrong with it: what the client is told is true, a
 * repetition succeeds, and once the sweeper has run the books balance. The calls are those that a run makes, not a list.
 */

/** What the one who makes a request is told; the status is 0 when nothing came. */
export interface Told {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** A request that is made with a fault, in the life of a client. */
export interface Play {
  readonly what: string;
  /** The route that has the fault, or the function that runs in the background. */
  readonly route: RouteName | 'settle-upload' | 'sweep';
  /** Runs in the streaming server, not in the function of its route. */
  readonly isStreaming?: true;
  /** As a new process makes it: with the calls that others save by what they keep in memory. */
  readonly isCold?: true;
  /** Made by the client itself, without an SDK that would try again. */
  readonly isWithoutRetries?: true;
  /** How it is answered when all goes well. */
  readonly usual: readonly number[];
  /** Prepares it for a client of its own. @param name  of the file that is made, if one is. */
  readonly prepare: (account: TestAccount, name: string, operator: Operator) => Promise<Prepared>;
}

export interface Prepared {
  readonly request: () => Promise<Told>;
  /** An answer that is neither usual nor 503, and true. */
  readonly isTrue?: (told: Told) => boolean;
  /**
   * Goes on as a client does that was told this: finds true what it was told, repeats what failed, and succeeds.
   * @throws when anything of that is not so.
   */
  readonly goOn: (told: Told) => Promise<void>;
  /** Once a late call has happened: whether there is a file of that name for good, told that. */
  readonly isFileMade: () => boolean;
  /** What must hold after a late call as it did before. */
  readonly stillHolds?: () => Promise<void>;
}

/** A fault; a late call happens when its request was answered, or when its client has gone on. */
export interface MatrixFault extends Pick<CallFault, 'reach'> {
  readonly effect: Exclude<CallFault['effect'], object> | 'late';
  readonly happens?: 'after the answer' | 'after the client went on';
}

export const FAULTS: readonly MatrixFault[] = [
  { effect: 'cut-after', reach: 'once' },
  { effect: 'throttle', reach: 'once' },
  { effect: 'transaction-conflict', reach: 'once' },
  { effect: 'error-after', reach: 'for good' },
  { effect: 'error-before', reach: 'and all after it' },
  { effect: 'late', reach: 'once', happens: 'after the answer' },
  { effect: 'late', reach: 'once', happens: 'after the client went on' },
  { effect: 'late', reach: 'for good', happens: 'after the answer' },
  { effect: 'late', reach: 'for good', happens: 'after the client went on' },
];

/** Both are counted as the run goes: a fault is tried when a call had it, and survived when all its checks have passed. */
export interface Tally {
  tried: number;
  survived: number;
  readonly failures: string[];
}

interface Trial {
  readonly name: string;
  readonly prepared: Prepared;
  readonly lateKeys: ReadonlySet<string>;
}

/** Applies each fault at each call of the play, one after the other. */
export async function tryPlay(operator: Operator, play: Play, faults: readonly MatrixFault[], tally: Tally) {
  const account = await operator.service.newAccount();
  const passed: Trial[] = [];
  let tried = 0;
  for (const fault of faults) {
    // The SDK's retries are rationed, and a process that has seen so many faults has none left.
    await renewProcess(operator.service, play);
    const warmUp = await play.prepare(
      account,
      `${play.what}, ${fault.effect} ${fault.reach} ${fault.happens}`,
      operator,
    );
    await warmUp.goOn(await warmUp.request());
    for (let nth = 1, isHit = true; isHit; nth++) {
      const name = `${play.what}, ${fault.effect} ${fault.reach} ${fault.happens ?? ''} at ${nth}`;
      isHit = false;
      const onHit = () => {
        isHit = true;
        tried++;
      };
      try {
        const trial = await tryOnce(operator, play, { account, name, fault, nth, onHit });
        if (isHit) passed.push(trial);
      } catch (error) {
        tally.failures.push(`${name}: ${(error as Error).message}`);
      }
    }
  }
  tally.tried += tried;
  tally.survived += await countBalanced(operator, account, passed, tally.failures);
}

/**
 * The process of the play's function dies at each of its calls, after the call had its effect and before its answer came.
 */
export async function tryDeaths(operator: Operator, play: Play, tally: Tally) {
  const { service } = operator;
  const account = await service.newAccount();
  const passed: Trial[] = [];
  for (let nth = 1, isHit = true; isHit; nth++) {
    const name = `${play.what}, killed at ${nth}`;
    const prepared = await play.prepare(account, name, operator);
    // The call happens, but its answer is lost, and the next attempt waits for one: so the process dies knowing nothing.
    const lost = applyToNth(service, nth, { effect: 'cut-after', reach: 'once' });
    const silence = applyToNth(service, nth, { effect: 'timeout', reach: 'for good' });
    const request = prepared.request().catch(() => NOTHING_TOLD);
    await Promise.race([silence.whenApplied, request]);
    if (silence.call) await renewProcess(service, play);
    const told = await request;
    for (const fault of [lost, silence]) fault.remove();
    isHit = lost.call !== undefined;
    if (isHit) tally.tried++;
    try {
      await prepared.goOn(told);
      if (isHit) passed.push({ name, prepared, lateKeys: new Set() });
    } catch (error) {
      tally.failures.push(`${name}: ${(error as Error).message}`);
    }
  }
  tally.survived += await countBalanced(operator, account, passed, tally.failures);
}

export const NOTHING_TOLD: Told = { status: 0, headers: new Headers(), body: undefined };

/** Ends the process that the play runs in; the next request starts another. */
export async function renewProcess({ lambda, stopWebFunctions }: TestService, play: Play): Promise<void> {
  if (play.isStreaming) return stopWebFunctions();
  const label = play.route.replace(/(?:^|-)\w/g, (start) => start.replace('-', '').toUpperCase());
  await lambda.killEnvironments(lambda.find(`${label}Function`).arn);
}

interface TrialOptions {
  readonly account: TestAccount;
  readonly name: string;
  readonly fault: MatrixFault;
  readonly nth: number;
  readonly onHit: () => void;
}

/** @throws Error when something was not as it must be. */
async function tryOnce(operator: Operator, play: Play, options: TrialOptions): Promise<Trial> {
  const { service } = operator;
  const { account, name, fault, nth, onHit } = options;
  const prepared = await play.prepare(account, name, operator);
  if (play.isCold) await renewProcess(service, play);
  const release = Promise.withResolvers<void>();
  const effect = fault.effect === 'late' ? { lateBy: release.promise } : fault.effect;
  const applied = applyToNth(service, nth, { effect, reach: fault.reach });
  const told = await prepared.request().finally(applied.remove);
  const happenLate = () => {
    release.resolve();
    return applied.lateAnswers();
  };
  if (applied.call) onHit();
  try {
    const { call } = applied;
    if (call) {
      // A request is never counted twice, so its counting is not tried again.
      const isRetried = !play.isWithoutRetries && !call.tables.includes(service.tables.rateLimits);
      expectTruth(told, { ...play, ...prepared }, call, isRetried && fault.reach === 'once');
    }
    if (fault.happens === 'after the answer') await happenLate();
    await prepared.goOn(told);
    const late = await happenLate();
    if (fault.effect === 'late' && applied.call && late.length === 0) throw new Error('the late call never happened');
    await prepared.stillHolds?.();
  } finally {
    await happenLate();
  }
  return { name, prepared, lateKeys: new Set(fault.effect === 'late' && applied.call?.key ? [applied.call.key] : []) };
}

/** The usual answer, or 503 with the time to wait. @param isMended  by the SDK's own retry: then the usual one. */
function expectTruth(
  told: Told,
  { usual, isTrue }: Pick<Play, 'usual'> & Pick<Prepared, 'isTrue'>,
  { service, operation, tables }: FaultSubject,
  isMended: boolean,
): void {
  if (usual.includes(told.status)) return;
  const isUnavailable = told.status === 503 && told.headers.has('retry-after');
  if (!isMended && (isUnavailable || isTrue?.(told))) return;
  const expected = isMended ? `${usual}, since a retry mends it` : `${usual}, or 503 with Retry-After`;
  const seen = `${told.status} ${JSON.stringify(told.body)}`;
  throw new Error(`answered ${seen} where ${expected} is true, at ${service} ${operation} ${tables.join()}`);
}

/**
 * Before the sweeper and after it the account has the files its client knows of, and no others; after it no work is left.
 * @returns how many of the trials ended so.
 */
async function countBalanced(operator: Operator, { id }: TestAccount, trials: readonly Trial[], failures: string[]) {
  const lateKeys = new Set(trials.flatMap((trial) => [...trial.lateKeys]));
  // Objects that came late have no row; the walk of the bucket removes them when they are a day old.
  const isForTheWalk = (problem: string) =>
    [...lateKeys].some((key) => problem === `no row refers to the object ${key}`);
  // What a play before this one left behind is that play's failure.
  const known = failures.slice();
  const isNew = (problem: string) => !known.some((failure) => failure.endsWith(`: ${problem}`));
  const wrong = new Set<Trial>();
  for (const when of ['before the sweeper', 'after the sweeper']) {
    if (when === 'after the sweeper') {
      await operator.expireDeadlines();
      await operator.sweep();
    }
    const { problems, unfinished, accountOf } = await readBooks(operator);
    const { names } = accountOf(id);
    const left = when === 'after the sweeper' ? unfinished : [];
    const contradictions = [...problems.filter((problem) => !isForTheWalk(problem)), ...left].filter(isNew);
    failures.push(...contradictions.map((problem) => `${when}: ${problem}`));
    for (const trial of trials) {
      const count = names.filter((name) => name === trial.name).length;
      if (contradictions.length === 0 && count === (trial.prepared.isFileMade() ? 1 : 0)) continue;
      if (contradictions.length === 0) failures.push(`${trial.name}: ${count} files of that name ${when}`);
      wrong.add(trial);
    }
  }
  let balanced = 0;
  for (const trial of trials) if (!wrong.has(trial)) balanced++;
  return balanced;
}
