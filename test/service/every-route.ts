import { ROUTES } from '../../functions/routes.ts';
import { randomToken } from '../../shared/ids.ts';
import type { Route } from '../../shared/route.ts';

/** A client's request; `path` starts at the root of the service. */
export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | ReadableStream;
}

export const FORM = { 'content-type': 'multipart/form-data; boundary=B' };
const JSON_TYPE = { 'content-type': 'application/json' };

export const form = (name: string) =>
  `--B\r\nContent-Disposition: form-data; name="f"; filename="${name}"\r\n\r\ncontent\r\n--B--`;

/** A body without a Content-Length, which the edge routes to the streaming server. */
const streamed = (text: string) => new Blob([text]).stream();

/** Requests of every kind to every route, with a credential. They have `text` in every place where a client can send text. */
export function everyRoute(
  credential: Record<string, string>,
  { id, text }: { id: string; text: string },
): SentRequest[] {
  const query = `?key=${encodeURIComponent(text)}&search=${encodeURIComponent(text)}`;
  const printable = text.replace(/[^ -~]/g, '');
  const common = { 'x-api-key': printable, 'user-agent': printable, ...credential };
  const quoted = JSON.stringify(text);
  return [
    ...Object.values<Route>(ROUTES).map(({ method, path }) => ({
      method,
      path: `${path.replace('{id}', id)}${query}`,
      headers: { ...common, ...(method !== 'GET' && JSON_TYPE) },
      ...(method !== 'GET' && { body: `{"name":${quoted},"mime_type":${quoted},"size_bytes":3}` }),
    })),
    ...[form(text), streamed(form(text)), form(text).slice(0, -3), streamed(form(text).slice(0, -3))].map((body) => ({
      method: 'POST',
      path: `/api/v1/files${query}`,
      headers: { ...common, ...FORM, 'idempotency-key': randomToken(64) },
      body,
    })),
    { method: 'POST', path: '/api/v1/api-keys', headers: { ...credential, ...JSON_TYPE }, body: `{"name": ${text}` },
    { method: 'GET', path: `/api/v1/auth/google/callback${query}&code=${text}&state=${text}`, headers: credential },
    { method: 'GET', path: `/${encodeURIComponent(text)}${query}`, headers: credential },
  ];
}
