import { availableParallelism } from 'node:os';
import type { Surroundings } from './environment-variables.ts';
import { ExecutionEnvironment } from './execution-environment.ts';
import type { FunctionConfig } from './function-config.ts';
import { type Invocation, InvocationRefused, type InvocationResult } from './invocation.ts';
import type { LogListener } from './log-lines.ts';

/**
 * Environments of one function at once. On AWS there may be a thousand; here each is a thread of some 30 MB that takes a
 * core a quarter of a second to start, and more than two a core only wait for it. So what comes beyond these waits its turn:
 * a delay, which a caller cannot tell from a busy machine. Four are enough for whatever may happen between two of them.
 */
const ENVIRONMENTS_MAX = Math.max(4, Math.min(8, 2 * availableParallelism()));

/** The execution environments of one function: idle ones are used again, last used first, and no two events share one. */
export class FunctionPool {
  readonly #fn: FunctionConfig;
  readonly #surroundings: Surroundings;
  readonly #onLog: LogListener;
  readonly #idle: ExecutionEnvironment[] = [];
  readonly #busy = new Set<ExecutionEnvironment>();
  readonly #waiting: (() => void)[] = [];
  #isClosed = false;

  constructor(fn: FunctionConfig, surroundings: Surroundings, onLog: LogListener) {
    this.#fn = fn;
    this.#surroundings = surroundings;
    this.#onLog = onLog;
  }

  /** @throws InvocationRefused when the function runs as often as is reserved for it, or all is closing. */
  async run(invocation: Invocation): Promise<InvocationResult> {
    const { reservedConcurrency } = this.#fn;
    if (reservedConcurrency !== undefined && this.#busy.size + this.#waiting.length >= reservedConcurrency) {
      throw new InvocationRefused('TooManyRequests', 'Rate Exceeded.');
    }
    while (this.#busy.size >= ENVIRONMENTS_MAX) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#isClosed) throw new InvocationRefused('TooManyRequests', 'The local environment is closing.');
    const environment = this.#take();
    this.#busy.add(environment);
    try {
      return await environment.run(invocation);
    } finally {
      this.#busy.delete(environment);
      if (environment.isAlive) this.#idle.push(environment);
      this.#waiting.shift()?.();
    }
  }

  /** Ends every environment, also those at work. */
  async kill(): Promise<void> {
    const all = [...this.#idle.splice(0), ...this.#busy];
    await Promise.all(all.map((environment) => environment.kill()));
  }

  /** As {@link kill}, and refuses everything from then on. */
  async close(): Promise<void> {
    this.#isClosed = true;
    // They find us closed.
    for (const wake of this.#waiting.splice(0)) wake();
    await this.kill();
  }

  #take(): ExecutionEnvironment {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) if (idle.isAlive) return idle;
    return new ExecutionEnvironment(this.#fn, this.#surroundings, this.#onLog);
  }
}
