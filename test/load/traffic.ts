import autocannon from 'autocannon';
import { FORM, filePart } from '../support/forms.ts';

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
}

/** The requests of a program that keeps no files: what it uploads, it deletes. */
export function sendMixed(traffic: Traffic, exchanges: Exchange[]): Promise<autocannon.Result> {
  const api = '/api/v1';
  const form = { 'content-type': FORM };
  const json = { 'content-type': 'application/json' };
  return send(traffic, exchanges, [
    {
      kind: 'upload of 4 kB',
      method: 'POST',
      path: () => `${api}/files`,
      headers: form,
      body: SMALL_FORM,
      keeps: 'fileId',
    },
    { kind: 'details', method: 'GET', path: ({ fileId }) => fileId && `${api}/files/${fileId}` },
    { kind: 'list', method: 'GET', path: () => `${api}/files?limit=20` },
    { kind: 'search', method: 'GET', path: () => `${api}/files?search=a.t` },
    { kind: 'delete', method: 'DELETE', path: ({ fileId }) => fileId && `${api}/files/${fileId}` },
    { kind: 'ticket', method: 'POST', path: () => `${api}/uploads`, headers: json, body: TICKET, keeps: 'ticketId' },
    { kind: 'cancel', method: 'DELETE', path: ({ ticketId }) => ticketId && `${api}/uploads/${ticketId}` },
    { kind: 'usage', method: 'GET', path: () => `${api}/usage` },
    {
      kind: 'upload of 4 MB',
      method: 'POST',
      path: () => `${api}/files`,
      headers: form,
      body: LARGE_FORM,
      keeps: 'fileId',
    },
    { kind: 'delete', method: 'DELETE', path: ({ fileId }) => fileId && `${api}/files/${fileId}` },
  ]);
}

/** Uploads, as fast as the rate allows, whatever the answers are. */
export function sendUploads(traffic: Traffic, exchanges: Exchange[]): Promise<autocannon.Result> {
  const path = () => '/api/v1/files';
  const headers = { 'content-type': FORM };
  return send(traffic, exchanges, [{ kind: 'upload of 4 kB', method: 'POST', path, headers, body: SMALL_FORM }]);
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
  { rootUrl, key, requestsPerSecond, connections, seconds }: Traffic,
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
      const { id } = JSON.parse(text) as { id?: string };
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
    requests: requests as autocannon.Request[],
  });
}
