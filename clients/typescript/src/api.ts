import { type Answer, jsonOf, retryAfterOf } from './answer.ts';
import type { FileHostingError } from './error.ts';
import type { Fetch } from './fetch-with.ts';
import { Pace } from './pace.ts';
import { type Repetition, type RetryOptions, retry } from './retry.ts';
import { type Exchange, send } from './send.ts';

export type Method = 'GET' | 'POST' | 'DELETE';

/** The classes in which the service counts the requests of an account. */
type RateClass = 'uploads' | 'lists' | 'requests';

export interface RequestOptions extends Pick<Exchange, 'body' | 'onSent'>, RetryOptions {
  readonly rate?: RateClass;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as the body. */
  readonly json?: unknown;
}

export interface CallOptions extends RequestOptions, Repetition {
  /** When a repeated request is answered with this status, an earlier attempt has succeeded, and only its answer was lost. */
  readonly doneStatus?: number;
}

/** How requests are sent. */
export interface Connecting {
  /** Used instead of the platform's `fetch`. In a browser, uploads then report progress only at the end of each attempt. */
  readonly fetch?: Fetch | undefined;
  /** After this many seconds in which no byte moves, an attempt counts as failed. Default 60. */
  readonly stallSeconds?: number | undefined;
}

/** Sends requests to the API of one service with one credential. */
export class Api {
  readonly paces: Readonly<Record<RateClass, Pace>> = { uploads: new Pace(), lists: new Pace(), requests: new Pace() };
  readonly using: Connecting;
  readonly #url: string;
  readonly #key: string | undefined;
  #hasAnswered = false;

  /** @param url  ends in `/api/v1`. @param key  without it the browser sends the cookie of its session. */
  constructor(url: string, key: string | undefined, using: Connecting) {
    this.#url = url;
    this.#key = key;
    this.using = using;
  }

  /** Sends one request when the rate limit allows it. @throws FileHostingError when there is no answer. */
  async request(method: Method, path: string, options: RequestOptions = {}): Promise<Answer> {
    const { rate = 'requests', json, body, headers, signal, retries, onWait } = options;
    const pace = this.paces[rate];
    if (retries !== 0)
      await pace.waitUntilAllowed((seconds) => onWait?.({ code: 'rate_limit_exceeded', seconds }), signal);
    const answer = await this.send({
      ...options,
      method,
      url: this.#url + path,
      body: json === undefined ? body : JSON.stringify(json),
      headers: {
        ...(this.#key !== undefined && { Authorization: `Bearer ${this.#key}` }),
        ...(json !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
    });
    pace.learn(answer.header);
    if (answer.status === 429) pace.refused(retryAfterOf(answer));
    return answer;
  }

  /** Sends a request to any address, without the credential. */
  async send(exchange: Omit<Exchange, 'fetch' | 'stallSeconds' | 'isKnown'>): Promise<Answer> {
    const answer = await send({ ...exchange, ...this.using, isKnown: this.#hasAnswered });
    this.#hasAnswered = true;
    return answer;
  }

  /** Sends a request, and repeats it after temporary errors. @returns the JSON object of the answer. */
  call<Body>(method: Method, path: string, { doneStatus, ...options }: CallOptions = {}): Promise<Body> {
    return retry(async (last) => {
      const answer = await this.request(method, path, options);
      if (last && mayHaveBeenDone(last) && answer.status === doneStatus) return {} as Body;
      return jsonOf(answer) as Body;
    }, options);
  }
}

function mayHaveBeenDone({ code }: FileHostingError): boolean {
  return code !== 'rate_limit_exceeded';
}
