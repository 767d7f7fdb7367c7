import type { AnsweredRequest } from '../../local-aws/cloudfront/serve-request.ts';
import type { LogListener } from '../../local-aws/lambda/invocation.ts';

/** The log of `npm start`: one line per request, and the warnings and errors of the functions. */

/** How many characters of the random part of a link are logged. They tell two links apart, but do not reveal the link. */
const SHOWN_OF_TOKEN = 4;
const TOKEN = /[0-9A-Za-z]{22,}/g;

/** Formats method, path without query, status, milliseconds and request id. */
export function requestLine({ method, path, status, milliseconds, requestId, failure }: AnsweredRequest): string {
  const shownPath = path.replace(TOKEN, (token) => `${token.slice(0, SHOWN_OF_TOKEN)}…`);
  const line = `${method} ${shownPath} ${status} ${Math.round(milliseconds)} ms ${requestId ?? '-'}`;
  return failure === undefined ? line : `${line} (${failure})`;
}

/** Writes the warnings and errors of a function to stderr, and lines that are not records of the product's log. */
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
