import type { RouteName } from '../../functions/routes.ts';
import type { FaultSubject } from '../../local-aws/service.ts';
import { readBooks } from '../support/books.ts';
import { applyToNth, type CallFault } from '../support/call-faults.ts';
import type { Operator } from '../support/operator.ts';
import type { TestAccount, TestService } from '../support/service.ts';
import { PARTS_TOO_YOUNG, walkEverything } from './fast-forward.ts';

/**
 * Applies every fault to every call that the service makes to AWS. Checks that the client gets a correct answer, that a retry succeeds, and
 * that the books balance after the sweeper has run. The calls are found by running a request, not listed.
 */

/** The answer to a request; the status is 0 when there was none. */
export interface Outcome {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** A kind of request that is made with a fault. */
export interface Scenario {
  readonly name: string;
  /** The route or background function whose calls get the fault. */
  readonly route: RouteName | 'complete-arrived-upload' | 'sweep';
  /** True when the request runs in the streaming server, not in the function of its route. */
  readonly isStreaming?: true;
  /** True to run each request in a new process. Such a process also makes the calls that a cache saves later. */
  readonly isCold?: true;
  /** True when the client makes the call itself (the PUT to S3), so that no SDK retries it. */
  readonly isWithoutRetries?: true;
  /** The status codes of a successful request. */
  readonly success: readonly number[];
  /** Makes what the request needs. @param fileName  the name of the file or key that the request makes. */
  readonly prepare: (account: TestAccount, fileName: string, operator: Operator) => Promise<Prepared>;
}

export interface Prepared {
  readonly request: () => Promise<Outcome>;
  /** Accepts other answers than success and 503. */
  readonly isAlsoValid?: (outcome: Outcome) => boolean;
  /**
   * Does what a client does after the answer: checks the result of a success, or retries after a failure.
   * @throws Error when the result is wrong or the retry fails.
   */
  readonly followUp: (outcome: Outcome) => Promise<void>;
  /**
   * True when a file with the given name must exist in the end, undefined when it may exist. This is called after `followUp` and after any
   * late call.
   */
  readonly isFileMade: () => boolean | undefined;
  /** Checks again, after a late call, that nothing has changed that must stay. */
  readonly stillHolds?: () => Promise<void>;
}

/** A fault of one call. A late call reaches AWS after the client's request was answered, or after `followUp`. */
export interface MatrixFault extends Pick<CallFault, 'reach'> {
  readonly effect: Exclude<CallFault['effect'], object> | 'late';
  readonly happens?: 'after the answer' | 'after the client went on';
}

export const FAULTS: readonly MatrixFault[] = [
  { effect: 'cut-after', reach: 'once' },
  { effect: 'throttle', reach: 'once' },
  { effect: 'conflict', reach: 'once' },
  { effect: 'error-after', reach: 'for good' },
  { effect: 'error-before', reach: 'and all after it' },
  { effect: 'late', reach: 'once', happens: 'after the answer' },
  { effect: 'late', reach: 'once', happens: 'after the client went on' },
  { effect: 'late', reach: 'for good', happens: 'after the answer' },
  { effect: 'late', reach: 'for good', happens: 'after the client went on' },
];

/** Counts during a run: a fault is tried when a call had it, and survived when all its checks passed. */
export interface Tally {
  tried: number;
  survived: number;
  readonly failures: string[];
}

interface Trial {
  readonly name: string;
  readonly prepared: Prepared;
}

/** Applies each fault to each call of the scenario, one after the other. */
export async function tryFaults(operator: Operator, scenario: Scenario, faults: readonly MatrixFault[], tally: Tally) {
  const account = await operator.service.newAccount();
  const passed: Trial[] = [];
  let tried = 0;
  for (const fault of faults) {
    // A new process for each fault: the SDK limits its retries, and many faults use them up.
    await renewProcess(operator.service, scenario);
    const warmUp = await scenario.prepare(
      account,
      `${scenario.name}, ${fault.effect} ${fault.reach} ${fault.happens}`,
      operator,
    );
    await warmUp.followUp(await warmUp.request());
    for (let nth = 1, isHit = true; isHit; nth++) {
      const name = `${scenario.name}, ${fault.effect} ${fault.reach} ${fault.happens ?? ''} at ${nth}`;
      isHit = false;
      const onHit = () => {
        isHit = true;
        tried++;
      };
      try {
        const trial = await tryOnce(operator, scenario, { account, name, fault, nth, onHit });
        if (isHit) passed.push(trial);
      } catch (error) {
        tally.failures.push(`${name}: ${(error as Error).message}`);
      }
    }
  }
  tally.tried += tried;
  tally.survived += await countBalanced(operator, account, passed, tally.failures);
}

/** Kills the function's process at each of its calls, after the call was applied and before it was answered. */
export async function tryKills(operator: Operator, scenario: Scenario, tally: Tally) {
  const { service } = operator;
  const account = await service.newAccount();
  const passed: Trial[] = [];
  for (let nth = 1, isHit = true; isHit; nth++) {
    const name = `${scenario.name}, killed at ${nth}`;
    const prepared = await scenario.prepare(account, name, operator);
    const killed = await killAtCall(service, scenario, nth, prepared.request);
    const { outcome } = killed;
    isHit = killed.isHit;
    if (isHit) tally.tried++;
    try {
      await prepared.followUp(outcome);
      if (isHit) passed.push({ name, prepared });
    } catch (error) {
      tally.failures.push(`${name}: ${(error as Error).message}`);
    }
  }
  tally.survived += await countBalanced(operator, account, passed, tally.failures);
}

/**
 * Makes a request, and kills the function's process at its nth call, after the call was applied and before it was answered.
 * @returns `isHit`: false when the request made fewer calls.
 */
export async function killAtCall(
  service: TestService,
  scenario: Scenario,
  nth: number,
  request: Prepared['request'],
): Promise<{ readonly outcome: Outcome; readonly isHit: boolean }> {
  // The first attempt is applied but not answered, and its retry gets no answer either: the process dies waiting.
  const lost = applyToNth(service, nth, { effect: 'cut-after', reach: 'once' });
  const silence = applyToNth(service, nth, { effect: 'timeout', reach: 'for good' });
  const answer = request().catch(() => NO_ANSWER);
  await Promise.race([silence.whenApplied, answer]);
  if (silence.call) await renewProcess(service, scenario);
  const outcome = await answer;
  for (const fault of [lost, silence]) fault.remove();
  return { outcome, isHit: lost.call !== undefined };
}

export const NO_ANSWER: Outcome = { status: 0, headers: new Headers(), body: undefined };

/** Ends the process that the scenario's requests run in; the next request starts a new one. */
async function renewProcess({ lambda, stopWebFunctions }: TestService, scenario: Scenario): Promise<void> {
  if (scenario.isStreaming) return stopWebFunctions();
  const label = scenario.route.replace(/(?:^|-)\w/g, (start) => start.replace('-', '').toUpperCase());
  await lambda.killEnvironments(lambda.find(`${label}Function`).arn);
}

interface TrialOptions {
  readonly account: TestAccount;
  readonly name: string;
  readonly fault: MatrixFault;
  readonly nth: number;
  readonly onHit: () => void;
}

/** Runs the scenario once, with the fault at the nth call. @throws Error when a check fails. */
async function tryOnce(operator: Operator, scenario: Scenario, options: TrialOptions): Promise<Trial> {
  const { service } = operator;
  const { account, name, fault, nth, onHit } = options;
  const prepared = await scenario.prepare(account, name, operator);
  if (scenario.isCold) await renewProcess(service, scenario);
  const release = Promise.withResolvers<void>();
  const effect = fault.effect === 'late' ? { lateBy: release.promise } : fault.effect;
  const applied = applyToNth(service, nth, { effect, reach: fault.reach });
  const outcome = await prepared.request().finally(applied.remove);
  const applyLateCalls = () => {
    release.resolve();
    return applied.lateAnswers();
  };
  if (applied.call) onHit();
  try {
    const { call } = applied;
    if (call) {
      // The rate limiter must not count a request twice, so its call is not retried.
      const isRetried = !scenario.isWithoutRetries && !call.tables.includes(service.tables.rateLimits);
      expectValid(outcome, { ...scenario, ...prepared }, call, isRetried && fault.reach === 'once');
    }
    if (fault.happens === 'after the answer') await applyLateCalls();
    await prepared.followUp(outcome);
    const late = await applyLateCalls();
    if (fault.effect === 'late' && applied.call && late.length === 0) throw new Error('the late call never happened');
    await prepared.stillHolds?.();
  } finally {
    await applyLateCalls();
  }
  return { name, prepared };
}

/** Expects a success, or 503 with `Retry-After`. @param isRetried  true when the SDK retries the call: only success is valid. */
function expectValid(
  outcome: Outcome,
  { success, isAlsoValid }: Pick<Scenario, 'success'> & Pick<Prepared, 'isAlsoValid'>,
  { service, operation, tables }: FaultSubject,
  isRetried: boolean,
): void {
  if (success.includes(outcome.status)) return;
  const isUnavailable = outcome.status === 503 && outcome.headers.has('retry-after');
  if (!isRetried && (isUnavailable || isAlsoValid?.(outcome))) return;
  const expected = isRetried ? `${success} (the SDK retries the call)` : `${success}, or 503 with Retry-After`;
  const actual = `${outcome.status} ${JSON.stringify(outcome.body)}`;
  throw new Error(`expected ${expected}, got ${actual}, with a fault at ${service} ${operation} ${tables.join()}`);
}

/** Objects and parts without a row, which the walk of the bucket removes when they are a day old. */
const FOR_THE_WALK = /^no row refers to the (object|unfinished multipart upload of) uploads\//;
/** The walk takes a page of the bucket for each sweep. */
const PAGES = 3;

/**
 * Runs the sweeper and walks the bucket. Before and after that, the account must have exactly the files that its client knows of;
 * after it, no work and no object without a row may be left.
 * @returns the number of trials that pass.
 */
async function countBalanced(operator: Operator, { id }: TestAccount, trials: readonly Trial[], failures: string[]) {
  // Problems that an earlier scenario has left and reported are not reported again.
  const known = failures.slice();
  const isNew = (problem: string) => !known.some((failure) => failure.endsWith(`: ${problem}`));
  const wrong = new Set<Trial>();
  for (const when of ['before the sweeper', 'after the sweeper']) {
    if (when === 'after the sweeper') {
      // The events come late here, and must change nothing.
      await operator.service.deliverEvents();
      operator.service.holdEvents();
      await operator.expireDeadlines();
      await walkEverything(operator);
      for (let page = 0; page < PAGES; page++) await operator.sweep();
    }
    const isForTheWalk = (problem: string) =>
      (when === 'before the sweeper' ? FOR_THE_WALK : PARTS_TOO_YOUNG).test(problem);
    const { problems, unfinished, accountOf } = await readBooks(operator);
    const { names } = accountOf(id);
    const left = when === 'after the sweeper' ? unfinished : [];
    const contradictions = [...problems.filter((problem) => !isForTheWalk(problem)), ...left].filter(isNew);
    failures.push(...contradictions.map((problem) => `${when}: ${problem}`));
    for (const trial of trials) {
      const count = names.filter((name) => name === trial.name).length;
      const isMade = trial.prepared.isFileMade();
      const isExpected = isMade === undefined ? count <= 1 : count === Number(isMade);
      if (contradictions.length === 0 && isExpected) continue;
      if (contradictions.length === 0) failures.push(`${trial.name}: ${count} files of that name ${when}`);
      wrong.add(trial);
    }
  }
  let balanced = 0;
  for (const trial of trials) if (!wrong.has(trial)) balanced++;
  return balanced;
}
