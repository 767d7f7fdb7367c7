import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import type { Deployment, Properties } from '../template/deployment.ts';
import { readProperties } from '../template/read-properties.ts';
import { ExecutionEnvironment } from './execution-environment.ts';
import type { FunctionConfig, Surroundings } from './function-config.ts';
import {
  type Invocation,
  InvocationRefused,
  type InvocationResult,
  type LogListener,
  newTraceId,
  PAYLOAD_MAX_BYTES,
} from './invocation.ts';

export interface InvokeRequest {
  readonly functionArn: string;
  /** The event as JSON. */
  readonly payload: string;
  /** The service that invokes the function; by default the operator of the local AWS, who may do anything. */
  readonly invoker?: Invoker;
  readonly requestId?: string;
  readonly traceId?: string;
}

export interface LambdaService {
  /** Runs a function and waits for its result. @throws InvocationRefused when it was not run. */
  invoke(request: InvokeRequest): Promise<InvocationResult>;
  /**
   * Finds a function by its name, its label or its ARN. The label is the logical id without the CDK's hash.
   * @throws Error when there is none, or more than one.
   */
  find(name: string): FunctionConfig;
  has(functionArn: string): boolean;
  /** Ends the environments of a function, even in the middle of an event, as AWS may at any time. */
  killEnvironments(functionArn: string): Promise<void>;
  /**
   * Ends the environments that have been idle for longer than {@link IDLE_MS}. The clock does this every few seconds.
   * @param now  by `performance.now`.
   */
  endIdleEnvironments(now: number): void;
  close(): Promise<void>;
}

/** The local Lambda. An environment starts with the first event. */
export function createLambdaService(options: {
  readonly functions: readonly FunctionConfig[];
  readonly mayInvoke: MayInvoke;
  readonly surroundings: Surroundings;
  readonly onLog: LogListener;
}): LambdaService {
  const { functions, mayInvoke, surroundings, onLog } = options;
  const pools = new Map(functions.map((fn) => [fn.arn, new FunctionPool(fn, surroundings, onLog)]));
  const poolOf = (functionArn: string): FunctionPool => {
    const pool = pools.get(functionArn);
    if (!pool) throw new InvocationRefused('ResourceNotFound', `Function not found: ${functionArn}`);
    return pool;
  };
  const endIdleEnvironments = (now: number) => {
    for (const pool of pools.values()) pool.endIdle(now);
  };
  const clock = setInterval(() => endIdleEnvironments(performance.now()), IDLE_CHECK_MS).unref();
  return {
    async invoke({ functionArn, payload, invoker, requestId = randomUUID(), traceId = newTraceId() }) {
      const pool = poolOf(functionArn);
      if (invoker && !mayInvoke(functionArn, invoker)) {
        throw new InvocationRefused('AccessDenied', `${invoker.principal} may not invoke ${functionArn}`);
      }
      const bytes = Buffer.byteLength(payload);
      if (bytes > PAYLOAD_MAX_BYTES) {
        throw new InvocationRefused('RequestTooLarge', `${bytes} byte payload is too large`);
      }
      return pool.run({ requestId, payload, traceId });
    },
    find(name) {
      const found = functions.filter((fn) => [fn.name, fn.label, fn.arn].includes(name));
      if (found.length === 1 && found[0]) return found[0];
      throw new Error(`${found.length} functions have the name "${name}"`);
    },
    has: (functionArn) => pools.has(functionArn),
    killEnvironments: (functionArn) => poolOf(functionArn).kill(),
    endIdleEnvironments,
    async close() {
      clearInterval(clock);
      await Promise.all([...pools.values()].map((pool) => pool.close()));
    },
  };
}

/**
 * How many environments one function has at most. On AWS there may be a thousand. Here each environment is a thread of some 30 MB, whose
 * start takes a core about an eighth of a second. More than two per core would only wait for the core. Further events wait for a free
 * environment; to a caller this looks like a busy machine. Four environments are enough to test any interleaving of two
 * events.
 */
const ENVIRONMENTS_MAX = Math.max(4, Math.min(8, 2 * availableParallelism()));

/**
 * How long an environment may be idle before it ends. On AWS that is some minutes. Here the last environment of a function stays as long,
 * because a start takes an eighth of a second of processor time. Further ones, which a busy moment has started, end soon, to free their
 * memory.
 */
const IDLE_MS = { last: 300_000, others: 15_000 };
const IDLE_CHECK_MS = 5_000;

interface IdleEnvironment {
  readonly environment: ExecutionEnvironment;
  /** When it became idle, by `performance.now`, which nobody sets back. */
  readonly since: number;
}

/** The execution environments of one function. Idle ones are reused, the last used first; each has one event at a time. */
class FunctionPool {
  readonly #fn: FunctionConfig;
  readonly #surroundings: Surroundings;
  readonly #onLog: LogListener;
  /** The longest idle first. */
  readonly #idle: IdleEnvironment[] = [];
  readonly #busy = new Set<ExecutionEnvironment>();
  readonly #waiting: (() => void)[] = [];
  #isClosed = false;

  constructor(fn: FunctionConfig, surroundings: Surroundings, onLog: LogListener) {
    this.#fn = fn;
    this.#surroundings = surroundings;
    this.#onLog = onLog;
  }

  /** @throws InvocationRefused when the reserved concurrency is used up, or the local Lambda is closing. */
  async run(invocation: Invocation): Promise<InvocationResult> {
    const { reservedConcurrency } = this.#fn;
    if (reservedConcurrency !== undefined && this.#busy.size + this.#waiting.length >= reservedConcurrency) {
      throw new InvocationRefused('TooManyRequests', 'Rate Exceeded.');
    }
    while (this.#busy.size >= ENVIRONMENTS_MAX) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#isClosed) throw new InvocationRefused('TooManyRequests', 'The local AWS is closing.');
    const environment = this.#take();
    this.#busy.add(environment);
    try {
      return await environment.run(invocation);
    } finally {
      this.#busy.delete(environment);
      if (environment.isAlive) this.#idle.push({ environment, since: performance.now() });
      this.#waiting.shift()?.();
    }
  }

  endIdle(now: number): void {
    for (let [first] = this.#idle; first; [first] = this.#idle) {
      const isLast = this.#idle.length + this.#busy.size === 1;
      if (now - first.since < (isLast ? IDLE_MS.last : IDLE_MS.others)) return;
      this.#idle.shift();
      void first.environment.kill();
    }
  }

  /** Ends every environment, including those that run an event. */
  async kill(): Promise<void> {
    const all = [...this.#idle.splice(0).map(({ environment }) => environment), ...this.#busy];
    await Promise.all(all.map((environment) => environment.kill()));
  }

  /** Like {@link kill}, and refuses all further events. */
  async close(): Promise<void> {
    this.#isClosed = true;
    // The waiting events then find the pool closed.
    for (const wake of this.#waiting.splice(0)) wake();
    await this.kill();
  }

  #take(): ExecutionEnvironment {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) {
      if (idle.environment.isAlive) return idle.environment;
    }
    return new ExecutionEnvironment(this.#fn, this.#surroundings, this.#onLog);
  }
}

/** One `AWS::Lambda::Permission`: it lets a service invoke a function. */
interface InvokePermission {
  readonly functionArn: string;
  /** A service, such as `events.amazonaws.com`. */
  readonly principal: string;
  /** A pattern with `*` and `?`. Absent when every resource of the service may invoke. */
  readonly sourceArn?: string;
}

/** A service of AWS that invokes a function. */
export interface Invoker {
  readonly principal: string;
  /** The rule or the API method on whose behalf the service invokes. */
  readonly sourceArn: string;
}

type MayInvoke = (functionArn: string, invoker: Invoker) => boolean;

/** Reads the resource policies of the functions. A service without a permission is refused, as on AWS. */
export function readPermissions(deployment: Deployment): MayInvoke {
  const permissions = deployment
    .resources('AWS::Lambda::Permission')
    .map(({ logicalId, properties }) => readPermission(logicalId, properties()));
  return (functionArn, { principal, sourceArn }) =>
    permissions.some(
      (permission) =>
        permission.functionArn === functionArn &&
        permission.principal === principal &&
        (permission.sourceArn === undefined || matchesPattern(permission.sourceArn, sourceArn)),
    );
}

function readPermission(logicalId: string, properties: Properties): InvokePermission {
  return readProperties(
    logicalId,
    properties,
    (take) => {
      const action = take<string>('Action');
      if (action !== 'lambda:InvokeFunction') throw new Error(`${logicalId}: the local AWS does not support ${action}`);
      const sourceArn = take<string>('SourceArn', '');
      return {
        functionArn: take<string>('FunctionName'),
        principal: take<string>('Principal'),
        ...(sourceArn && { sourceArn }),
      };
    },
    // There is only one account.
    ['SourceAccount'],
  );
}

function matchesPattern(pattern: string, text: string): boolean {
  const literal = (part: string) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const source = pattern.replace(/[*?]|[^*?]+/g, (part) => (part === '*' ? '.*' : part === '?' ? '.' : literal(part)));
  return new RegExp(`^${source}$`, 's').test(text);
}
