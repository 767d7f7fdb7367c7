import type { HeaderMap } from './header-map.ts';

/** The service's code for each error that CloudFront makes itself. On AWS these bodies are pages of HTML. */
const CODES: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  403: 'forbidden',
  414: 'invalid_request',
  502: 'service_unavailable',
  503: 'service_unavailable',
  504: 'timeout',
};

export interface OwnAnswer {
  readonly status: number;
  readonly headers: HeaderMap;
  readonly body: Buffer;
}

/** An error that no origin and no function made, in the service's form. */
export function ownError(status: 400 | 403 | 414 | 502 | 503 | 504, requestId: string): OwnAnswer {
  const body = Buffer.from(JSON.stringify({ error: CODES[status] }));
  const headers: HeaderMap = new Map([
    ['content-type', ['application/json']],
    ['content-length', [String(body.length)]],
    ['cache-control', ['no-store']],
    ['x-content-type-options', ['nosniff']],
    ['x-request-id', [requestId]],
  ]);
  if (status === 502 || status === 503) headers.set('retry-after', ['1']);
  return { status, headers, body };
}
