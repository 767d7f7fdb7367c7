/** One event of a log group. */
export interface LogEvent {
  /** When the event happened, in epoch milliseconds. */
  readonly timestamp: number;
  readonly message: string;
}

/** A group keeps this many events; older ones are forgotten. */
const EVENTS_MAX = 20_000;

/** The log groups of CloudWatch, in memory: they begin empty at each start. */
export class LogGroups {
  readonly #groups = new Map<string, { readonly events: LogEvent[]; readonly streams: Set<string> }>();

  constructor(names: readonly string[]) {
    for (const name of names) this.#groups.set(name, { events: [], streams: new Set() });
  }

  get names(): string[] {
    return [...this.#groups.keys()].sort();
  }

  has(group: string): boolean {
    return this.#groups.has(group);
  }

  /** @throws Error when there is no such group. */
  append(group: string, message: string, { stream = 'local', timestamp = Date.now() } = {}): void {
    const { events, streams } = this.#find(group);
    streams.add(stream);
    events.push({ timestamp, message });
    if (events.length > EVENTS_MAX) events.splice(0, events.length - EVENTS_MAX);
  }

  /** @returns false when the stream exists already. */
  createStream(group: string, stream: string): boolean {
    const { streams } = this.#find(group);
    const isNew = !streams.has(stream);
    streams.add(stream);
    return isNew;
  }

  hasStream(group: string, stream: string): boolean {
    return this.#find(group).streams.has(stream);
  }

  /** The events of a group between two times, both inclusive, in epoch milliseconds. */
  between(group: string, from: number, to: number): LogEvent[] {
    return this.#find(group).events.filter(({ timestamp }) => timestamp >= from && timestamp <= to);
  }

  #find(group: string) {
    const found = this.#groups.get(group);
    if (!found) throw new Error(`there is no log group ${group}`);
    return found;
  }
}

/** The name in the ARN of a log group, with or without `:*` at its end. */
export function groupOfArn(arn: string): string {
  return arn.replace(/^arn:[^:]*:logs:[^:]*:[^:]*:log-group:/, '').replace(/:\*$/, '');
}
