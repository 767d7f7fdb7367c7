import { type ErrorCode, FileHostingError } from './error.ts';
import type { FileRecord, FilesPage } from './types.ts';

/** A complete answer to a request. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  /** @returns null when the answer has no such header, or CORS hides the header. */
  header(name: string): string | null;
}

/** How many seconds the answer asks the client to wait. The clock of this machine does not matter when the answer has a `Date`. */
export function retryAfterOf(answer: Answer): number | undefined {
  const value = answer.header('Retry-After');
  if (!value) return undefined;
  if (/^\s*\d+\s*$/.test(value)) return Number(value);
  const until = Date.parse(value);
  const now = Date.parse(answer.header('Date') ?? '') || Date.now();
  return Number.isNaN(until) ? undefined : Math.max(0, (until - now) / 1_000);
}

/** True when the request has changed nothing. */
export const isRefusal = ({ status }: Answer): boolean => status >= 400 && status < 500;

/** The JSON object of a 2xx answer. @throws FileHostingError for every other answer. */
export function jsonOf(answer: Answer): Record<string, unknown> {
  let body: unknown;
  try {
    body = JSON.parse(answer.text);
  } catch {
    // The answer was cut off, or does not come from the service.
  }
  const isObject = typeof body === 'object' && body !== null;
  if (answer.status >= 200 && answer.status < 300 && isObject) return body as Record<string, unknown>;
  throw errorOf(answer, isObject ? (body as { error?: unknown }).error : undefined);
}

/** The record of a file in an answer. @throws FileHostingError when the answer is an error, or has no record. */
export function recordIn(answer: Answer): FileRecord {
  const body = jsonOf(answer) as unknown as FileRecord;
  if (typeof body.id === 'string' && typeof body.url === 'string') return body;
  throw errorOf(answer, undefined);
}

/** A page of the list in an answer. @throws FileHostingError when the answer is an error, or has no page. */
export function pageIn(answer: Answer): FilesPage {
  const body = jsonOf(answer) as unknown as FilesPage;
  if (Array.isArray(body.items) && [body.total, body.limit].every(Number.isSafeInteger)) return body;
  throw errorOf(answer, undefined);
}

/**
 * The error that an answer stands for.
 * @param code  the `error` of its body.
 * @param what  replaces the usual words for the code; so does `advice`.
 */
export function errorOf(answer: Answer, code: unknown, what?: string, advice?: string): FileHostingError {
  const { status } = answer;
  const isForeign = status >= 200 && status < 300 && !isCutOff(answer);
  const details = {
    status,
    what: isForeign ? 'This address does not answer as the service' : what,
    advice,
    detail: answer.header('Error-Detail'),
    isFinal: isForeign,
    retryAfter: retryAfterOf(answer),
    requestId:
      ['X-Request-Id', 'X-Amz-Cf-Id', 'x-amz-request-id'].map((name) => answer.header(name)).find(Boolean) ?? undefined,
  };
  const location = status >= 300 && status < 400 && answer.header('Location');
  if (location)
    return new FileHostingError('invalid_response', {
      ...details,
      advice: `The answer refers to ${location}; use the address of the service itself as url.`,
    });
  return new FileHostingError(codeOf(status, code), details);
}

/** True when the service may have sent this answer, but the end of the answer was lost on the way. */
function isCutOff({ text }: Answer): boolean {
  if (!/^\s*(?:\{|$)/.test(text)) return false;
  try {
    JSON.parse(text);
    return false;
  } catch {
    return true;
  }
}

function codeOf(status: number, code: unknown): ErrorCode {
  // A newer service may have codes that this client does not know.
  if (status >= 400 && /^[a-z][a-z_\d]*$/.test(String(code ?? ''))) return code as ErrorCode;
  if (status === 429) return 'rate_limit_exceeded';
  return status >= 500 ? 'service_unavailable' : 'invalid_response';
}

/** The codes with which the storage refuses a request that may succeed later. Source: Amazon S3, "Error responses". */
const BUSY = /^(?:RequestTimeout|SlowDown|OperationAborted|ConditionalRequestConflict)$/;

/** The error for an answer of the storage to a PUT. The body of such an answer is XML. */
export function storageErrorOf(answer: Answer): FileHostingError {
  const [, code = ''] = /<Code>(\w+)<\/Code>/.exec(answer.text) ?? [];
  const { status } = answer;
  const refused = status === 403 ? 'forbidden' : status < 500 && code ? 'invalid_request' : undefined;
  const large = code === 'EntityTooLarge' && 'file_too_large';
  const known = BUSY.test(code) ? 'service_unavailable' : large || refused;
  const [what, advice] = /expired/i.test(answer.text)
    ? ['The ticket has expired', 'Create another ticket.']
    : code === 'SignatureDoesNotMatch'
      ? [`The ticket is for content of another size: ${code}`, 'Create a ticket for this content.']
      : [code && `The storage answered ${code}`];
  return errorOf(answer, known, what, advice);
}
