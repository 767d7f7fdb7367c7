import type { AnsweredRequest } from '../../local-aws/cloudfront/serve-request.ts';
import type { LogListener } from '../../local-aws/lambda/invocation.ts';

/** What `npm start` writes once it is ready: a line a request, and of the functions only what went wrong. */

/** Long random parts of a path are what makes a link secret; these are enough to tell two apart. */
const SHOWN_OF_TOKEN = 4;
const TOKEN = /[0-9A-Za-z]{22,}/g;

/** Method, path without query, status, milliseconds, request id. */
export function requestLine({ method, path, status, milliseconds, requestId, failure }: AnsweredRequest): string {
  const shownPath = path.replace(TOKEN, (token) => `${token.slice(0, SHOWN_OF_TOKEN)}…`);
  const line = `${method} ${shownPath} ${status} ${Math.round(milliseconds)} ms ${requestId ?? '-'}`;
  return failure === undefined ? line : `${line} (${failure})`;
}

/** Writes to stderr what a function logs as a warning or an error, and whatever is no record of our log. */
export const reportFunction: LogListener = ({ function: name, line }) => {
  if (levelOf(line) !== 'info') console.error(`${name}: ${line}`);
};

function levelOf(line: string): unknown {
  try {
    return (JSON.parse(line) as { level?: unknown }).level;
  } catch {
    return undefined;
  }
}
