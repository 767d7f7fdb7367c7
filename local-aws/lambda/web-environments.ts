import type { Surroundings } from './environment-variables.ts';
import type { LogListener } from './log-lines.ts';
import type { WebFunctionConfig } from './web-function-config.ts';
import { startWebProcess, type WebProcess } from './web-process.ts';

/** A place in an environment, for one request. */
export interface Place {
  readonly port: number;
  release(): void;
}

/** No environment can take the request. */
export class NoPlace extends Error {
  readonly reason: 'crashed' | 'full';

  constructor(reason: NoPlace['reason']) {
    super(reason);
    this.name = 'NoPlace';
    this.reason = reason;
  }
}

interface Environment {
  readonly process: Promise<WebProcess>;
  inFlight: number;
}

/** After an application that did not come up, none is started for this long, twice as long each time. */
const BACKOFF_FIRST_MS = 250;
const BACKOFF_MAX_MS = 10_000;

/** The environments of one Web Function: each takes several requests at once, and the next is started when all are full. */
export class WebEnvironments {
  readonly #fn: WebFunctionConfig;
  readonly #surroundings: Surroundings;
  readonly #onLog: LogListener;
  readonly #environments = new Set<Environment>();
  #backoffMs = 0;
  #mayStartAt = 0;
  #isClosed = false;

  constructor(fn: WebFunctionConfig, surroundings: Surroundings, onLog: LogListener) {
    this.#fn = fn;
    this.#surroundings = surroundings;
    this.#onLog = onLog;
  }

  /** @throws NoPlace */
  async take(): Promise<Place> {
    const environment = this.#withRoom() ?? this.#start();
    environment.inFlight += 1;
    const release = () => {
      environment.inFlight -= 1;
    };
    try {
      return { port: (await environment.process).port, release };
    } catch {
      throw new NoPlace('crashed');
    }
  }

  /** Ends every environment, as AWS may at any time. */
  async stop(): Promise<void> {
    await Promise.all([...this.#environments].map(({ process }) => process.then(({ stop }) => stop()).catch(() => {})));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.stop();
  }

  #withRoom(): Environment | undefined {
    return [...this.#environments].find(({ inFlight }) => inFlight < this.#fn.concurrencyPerEnvironment);
  }

  #start(): Environment {
    if (this.#isClosed || Date.now() < this.#mayStartAt) throw new NoPlace('crashed');
    if (this.#environments.size >= this.#fn.environmentsMax) throw new NoPlace('full');
    const environment: Environment = {
      process: startWebProcess(this.#fn, this.#surroundings, this.#onLog),
      inFlight: 0,
    };
    this.#environments.add(environment);
    void this.#watch(environment);
    return environment;
  }

  async #watch(environment: Environment): Promise<void> {
    try {
      const process = await environment.process;
      this.#backoffMs = 0;
      await process.ended;
      if (!this.#isClosed) this.#log('ended; the next request starts it again');
    } catch (error) {
      this.#backoffMs = Math.min(BACKOFF_MAX_MS, this.#backoffMs * 2 || BACKOFF_FIRST_MS);
      this.#mayStartAt = Date.now() + this.#backoffMs;
      this.#log(`did not start: ${(error as Error).message}`);
    } finally {
      this.#environments.delete(environment);
    }
  }

  #log(line: string): void {
    this.#onLog({ function: this.#fn.label, line });
  }
}
