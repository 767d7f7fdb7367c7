/** Records secrets, and finds pieces of them in log lines. */

/** This many consecutive characters of a secret are a leak; fewer, such as an API key's prefix, are not. */
const PIECE = 16;
const pieces = new Map<string, string>();

export function recordSecret(what: string, secret: string): void {
  for (let at = 0; at + PIECE <= secret.length; at++) pieces.set(secret.slice(at, at + PIECE), what);
}

/** The lines that contain a piece of a secret, each with the kind of the secret. */
export function leaksIn(lines: readonly string[]): string[] {
  return lines.flatMap((line) => {
    for (let at = 0; at + PIECE <= line.length; at++) {
      const what = pieces.get(line.slice(at, at + PIECE));
      if (what !== undefined) return [`${what}: ${line}`];
    }
    return /eyJ[\w-]{20,}\.eyJ/.test(line) ? [`a token: ${line}`] : [];
  });
}

const SECRET_PARAMETERS = ['state', 'nonce', 'code', 'code_challenge', 'X-Amz-Signature', 'X-Amz-Security-Token'];

function recordUrl(text: string): void {
  const url = URL.parse(text);
  for (const name of SECRET_PARAMETERS) recordSecret(name, url?.searchParams.get(name) ?? '');
  // A link is a secret, because everyone who has the link can read the file.
  recordSecret('link', /^\/uploads\/([^/]+)/.exec(url?.pathname ?? '')?.[1] ?? '');
}

/** Calls `fetch`, and records the secrets in the URL and in the response. */
export async function recordingFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await realFetch(input, init);
  recordUrl(String(input));
  recordUrl(new URL(response.headers.get('location') ?? '', response.url).href);
  for (const cookie of response.headers.getSetCookie()) {
    const value = /=([^;]*)/.exec(cookie)?.[1] ?? '';
    // A login's cookie contains state, code verifier, nonce and a time.
    for (const part of value.split('.')) recordSecret('cookie', part);
  }
  const text = await response.clone().text();
  // The gateway declares an empty answer as JSON, too.
  if (text !== '' && response.headers.get('content-type') === 'application/json') {
    JSON.parse(text, (name, value) => {
      if (name === 'key') recordSecret('key', value);
      if (name === 'url') recordUrl(value);
    });
  }
  return response;
}

const realFetch = globalThis.fetch;
