import { setTimeout as sleep } from 'node:timers/promises';
import type { FileRecord, UploadTicket } from '../../shared/contract/answers.ts';
import { type Content, joined } from './content.ts';
import { type Answer, type Ask, exchange, type Framing } from './http.ts';

/** A client of the service under test, with an API key. */
export class Service {
  readonly baseUrl: string;
  readonly rootUrl: string;
  readonly #key: string;
  readonly #left = new Map<string, string>();

  constructor({ baseUrl, key }: { baseUrl: string; key: string }) {
    this.baseUrl = baseUrl.replace(/\/$/, '');
    this.rootUrl = this.baseUrl.replace(/\/api\/v1$/, '');
    if (this.rootUrl === this.baseUrl) throw new Error(`${baseUrl} does not end in /api/v1.`);
    this.#key = key;
  }

  get authorization(): Record<string, string> {
    return { authorization: `Bearer ${this.#key}` };
  }

  /**
   * Sends a request with the key. While the answer is 429, repeats the request after `Retry-After`: other clients may use the account as
   * well.
   */
  async ask(path: string, ask: Ask = {}): Promise<Answer> {
    for (;;) {
      const answer = await this.askOnce(path, ask);
      if (answer.status !== 429) return answer;
      await sleep(Number(answer.headers['retry-after'] ?? 1) * 1_000);
    }
  }

  /** Sends a request with the key once, even if the answer is 429. */
  askOnce(path: string, ask: Ask = {}): Promise<Answer> {
    return exchange(this.baseUrl + path, { ...ask, headers: { ...this.authorization, ...ask.headers } });
  }

  /** Uploads a file. @returns its record. @throws Error when the answer is not 201. */
  async upload(name: string, content: Content, framing: Framing = 'length', type?: string): Promise<FileRecord> {
    const record = JSON.parse(expectStatus(await this.ask('/files', formOf(name, content, framing, type)), 201).text);
    this.#left.set(record.id, name);
    return record as FileRecord;
  }

  async askForTicket(name: string, sizeBytes: number): Promise<Required<Omit<UploadTicket, 'file'>>> {
    const body = { name, mime_type: 'application/octet-stream', size_bytes: sizeBytes };
    const ticket = JSON.parse(expectStatus(await this.ask('/uploads', jsonOf(body)), 202).text);
    this.#left.set(ticket.id, name);
    return ticket;
  }

  /** Cancels a direct upload that is not complete. */
  async cancel(id: string): Promise<Answer> {
    const answer = await this.ask(`/uploads/${id}`, { method: 'DELETE' });
    if (answer.status === 200) this.#left.delete(id);
    return answer;
  }

  async remove(id: string): Promise<Answer> {
    const answer = await this.ask(`/files/${id}`, { method: 'DELETE' });
    if (answer.status === 200) this.#left.delete(id);
    return answer;
  }

  /** Deletes all uploaded files that still exist. @returns the names of files that could not be deleted. */
  async tidyUp(): Promise<string[]> {
    const stuck: string[] = [];
    for (const [id, name] of this.#left) {
      // After the cancellation, a direct upload cannot become a file any more.
      const cancelled = await this.cancel(id).catch(() => undefined);
      const removed = await this.remove(id).catch(() => undefined);
      const isGone = [cancelled, removed].every((answer) => answer?.status === 200 || answer?.status === 404);
      if (!isGone) stuck.push(`${name} (${id})`);
    }
    return stuck;
  }
}

const BOUNDARY = '----smoke7MA4YWxkTrZu0gW';
const TAIL = `\r\n--${BOUNDARY}--\r\n`;
const headOf = (name: string, type: string | undefined) =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n` +
  `${type === undefined ? '' : `Content-Type: ${type}\r\n`}\r\n`;

/** The number of bytes that a form adds to its file. */
export const framingBytes = (name: string) => headOf(name, undefined).length + TAIL.length;

/** Makes the request that uploads a file as a form. @param name  plain ASCII. */
export function formOf(name: string, content: Content, framing: Framing = 'length', type?: string): Ask {
  return {
    method: 'POST',
    headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
    body: joined(headOf(name, type), content, TAIL),
    framing,
  };
}

function jsonOf(body: object): Ask {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: joined(JSON.stringify(body)) };
}

/** @throws Error with the actual status and body when the answer has another status. */
export function expectStatus(answer: Answer, status: number): Answer {
  if (answer.status === status) return answer;
  throw new Error(`answered ${answer.status} ${answer.text.slice(0, 200)} instead of ${status}${requestId(answer)}`);
}

/** Expects exactly an error of the contract. @throws Error with the actual answer. */
export function expectError(answer: Answer, status: number, code: string): void {
  expectStatus(answer, status);
  const expected = JSON.stringify({ error: code });
  if (answer.text !== expected) throw new Error(`the body is ${answer.text.slice(0, 200)} instead of ${expected}`);
  expectHeader(answer, 'content-type', /^application\/json\b/);
}

export function expectHeader(answer: Answer, name: string, pattern: RegExp): void {
  const value = answer.headers[name];
  if (value === undefined || !pattern.test(value))
    throw new Error(`the header ${name} is ${value ?? 'absent'} and does not match ${pattern}`);
}

/** Expects the headers that every answer of the API has. A header that came twice is joined by a comma, so it does not match. */
export function expectCommonHeaders(answer: Answer): void {
  expectHeader(answer, 'x-request-id', /^[^,\s]+$/);
  expectHeader(answer, 'cache-control', /^no-store$/);
  expectHeader(answer, 'x-content-type-options', /^nosniff$/);
  expectHeader(answer, 'strict-transport-security', /^max-age=\d{8}; includeSubDomains$/);
}

export function expectEqual(what: string, actual: unknown, expected: unknown): void {
  if (actual !== expected) throw new Error(`${what} is ${actual}, not ${expected}`);
}

const requestId = ({ headers }: Answer) => {
  const id = headers['x-request-id'] ?? headers['x-amz-cf-id'];
  return id === undefined ? '' : ` (request ${id})`;
};
