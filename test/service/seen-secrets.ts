/** Remembers, by its pieces, every secret that passes, and looks for them in lines. */

/** So many characters of a secret in a row are a leak; fewer, such as an API key's prefix, are not. */
const PIECE = 16;
const pieces = new Map<string, string>();

export function remember(what: string, secret: string): void {
  for (let at = 0; at + PIECE <= secret.length; at++) pieces.set(secret.slice(at, at + PIECE), what);
}

/** Which secret is in which line. */
export function leaksIn(lines: readonly string[]): string[] {
  return lines.flatMap((line) => {
    for (let at = 0; at + PIECE <= line.length; at++) {
      const what = pieces.get(line.slice(at, at + PIECE));
      if (what !== undefined) return [`${what}: ${line}`];
    }
    return /eyJ[\w-]{20,}\.eyJ/.test(line) ? [`a token: ${line}`] : [];
  });
}

const SECRET_PARAMETERS = ['state', 'nonce', 'code', 'code_challenge', 'X-Amz-Signature'];

function rememberUrl(text: string): void {
  const url = URL.parse(text);
  for (const name of SECRET_PARAMETERS) remember(name, url?.searchParams.get(name) ?? '');
  // Whoever knows a link may read the file.
  remember('link', /\/uploads\/([^/]+)/.exec(url?.pathname ?? '')?.[1] ?? '');
}

/** `fetch`, which also remembers what secrets go by. */
export async function rememberingFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await realFetch(input, init);
  rememberUrl(String(input));
  rememberUrl(new URL(response.headers.get('location') ?? '', response.url).href);
  for (const cookie of response.headers.getSetCookie()) {
    const value = /=([^;]*)/.exec(cookie)?.[1] ?? '';
    // Of a login: state, code verifier, nonce and a time.
    for (const part of value.split('.')) remember('cookie', part);
  }
  const text = await response.clone().text();
  // The gateway calls an answer without a body JSON, too.
  if (text !== '' && response.headers.get('content-type') === 'application/json') {
    JSON.parse(text, (name, value) => {
      if (name === 'key') remember('key', value);
      if (name === 'url') rememberUrl(value);
    });
  }
  return response;
}

const realFetch = globalThis.fetch;
