import autocannon from 'autocannon';
import { FORM, filePart } from './forms.ts';

/** One request that was answered. Times are milliseconds of `performance.now()`. */
export interface Exchange {
  readonly kind: string;
  readonly sentAt: number;
  readonly answeredAt: number;
  readonly status: number;
}

/** What the requests of one round know of each other. */
interface Round {
  sentAt?: number;
  fileId?: string;
  ticketId?: string;
}

const SMALL_FORM = `${filePart('x'.repeat(4_000))}--B--\r\n`;
/** Over 4 MiB, so the edge sends it to the streaming server. */
const LARGE_FORM = `${filePart('x'.repeat(4_300_000))}--B--\r\n`;
const TICKET = JSON.stringify({ name: 'direct.bin', mime_type: 'application/octet-stream', size_bytes: 1_000 });

export interface Traffic {
  readonly rootUrl: string;
  readonly key: string;
  readonly requestsPerSecond: number;
  readonly connections: number;
  /** How long it takes if the service keeps up. */
  readonly seconds: number;
  /** True to end when a connection is cut or refused, as when the service is killed. */
  readonly endsWithService?: true;
}

const API = '/api/v1';
const FORM_TYPE = { 'content-type': FORM };
const JSON_TYPE = { 'content-type': 'application/json' };

const upload = (kind: string, body: Step['body']): Step => ({
  kind,
  method: 'POST',
  path: () => `${API}/files`,
  headers: FORM_TYPE,
  body,
  keeps: 'fileId',
});
const deletion: Step = { kind: 'delete', method: 'DELETE', path: ({ fileId }) => fileId && `${API}/files/${fileId}` };

/** Each part begins with a request that needs no other. */
const PARTS_OF_MIXED: readonly (readonly Step[])[] = [
  [
    upload('upload of 4 kB', SMALL_FORM),
    { kind: 'details', method: 'GET', path: ({ fileId }) => fileId && `${API}/files/${fileId}` },
    { kind: 'list', method: 'GET', path: () => `${API}/files?limit=20` },
    { kind: 'search', method: 'GET', path: () => `${API}/files?search=a.t` },
    deletion,
  ],
  [
    {
      kind: 'ticket',
      method: 'POST',
      path: () => `${API}/uploads`,
      headers: JSON_TYPE,
      body: TICKET,
      keeps: 'ticketId',
    },
    { kind: 'cancel', method: 'DELETE', path: ({ ticketId }) => ticketId && `${API}/uploads/${ticketId}` },
    { kind: 'usage', method: 'GET', path: () => `${API}/usage` },
  ],
  [upload('upload of 4 MB', LARGE_FORM), deletion],
];
export const KINDS_OF_MIXED: ReadonlySet<string> = new Set(PARTS_OF_MIXED.flat().map(({ kind }) => kind));

/**
 * Sends the requests of a program that keeps no files: what it uploads, it deletes.
 * @param first  the part that each round begins with, so that several programs together soon send requests of every kind.
 */
export function sendMixed(traffic: Traffic, exchanges: Exchange[], first = 0): Promise<autocannon.Result> {
  const steps = PARTS_OF_MIXED.map((_, at) => PARTS_OF_MIXED[(first + at) % PARTS_OF_MIXED.length] ?? []);
  return send(traffic, exchanges, steps.flat());
}

/** Uploads, as fast as the rate allows, whatever the answers are. */
export function sendUploads(traffic: Traffic, exchanges: Exchange[]): Promise<autocannon.Result> {
  return send(traffic, exchanges, [upload('upload of 4 kB', SMALL_FORM)]);
}

interface Step {
  readonly kind: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Nothing when an earlier step of the round did not give the id: then the round begins again. */
  readonly path: (round: Round) => string | undefined;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  /** The id in the answer is kept for later steps of the round. */
  readonly keeps?: 'fileId' | 'ticketId';
}

/** Each connection sends the steps one after the other, again and again. */
async function send(
  { rootUrl, key, requestsPerSecond, connections, seconds, endsWithService }: Traffic,
  exchanges: Exchange[],
  steps: readonly Step[],
): Promise<autocannon.Result> {
  const requests = steps.map(({ kind, method, path, headers, body, keeps }) => ({
    method,
    headers: { authorization: `Bearer ${key}`, ...headers },
    ...(body !== undefined && { body }),
    setupRequest(request: autocannon.Request, context: object) {
      const round = context as Round;
      round.sentAt = performance.now();
      const target = path(round);
      return target === undefined ? undefined : { ...request, path: target };
    },
    onResponse(status: number, text: string, context: object) {
      const round = context as Round;
      const sentAt = round.sentAt ?? Number.NaN;
      exchanges.push({ kind, sentAt, answeredAt: performance.now(), status });
      if (keeps === undefined) return;
      // An error of 5xx need not be JSON.
      const { id } = status < 300 ? (JSON.parse(text) as { id?: string }) : {};
      if (id === undefined) delete round[keeps];
      else round[keeps] = id;
    },
  }));
  // By a number of requests: a duration would cut those that are on their way at its end, which the service may have admitted.
  return autocannon({
    url: rootUrl,
    connections,
    amount: requestsPerSecond * seconds,
    overallRate: requestsPerSecond,
    timeout: 60,
    ...(endsWithService && { bailout: 1 }),
    requests: requests as autocannon.Request[],
  });
}
