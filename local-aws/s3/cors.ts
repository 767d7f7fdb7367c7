import type { IncomingHttpHeaders } from 'node:http';

/** A CORS rule of a bucket, with CloudFormation's property names. */
export interface CorsRule {
  readonly AllowedMethods: readonly string[];
  readonly AllowedOrigins: readonly string[];
  readonly AllowedHeaders?: readonly string[];
  readonly ExposedHeaders?: readonly string[];
  /** How many seconds a browser may keep the answer to a preflight. */
  readonly MaxAge?: number;
}

/** One `*` in a pattern stands for any characters. */
function matches(pattern: string, text: string): boolean {
  const [start = '', ...rest] = pattern.split('*');
  const end = rest.join('*');
  if (rest.length === 0) return pattern === text;
  return text.startsWith(start) && text.endsWith(end) && text.length >= start.length + end.length;
}

/**
 * The CORS headers of an answer. There are none when the request has no `Origin` or no rule allows it; the browser then hides
 * the answer from the page, as with S3.
 */
export function corsHeaders(
  rules: readonly CorsRule[],
  method: string,
  headers: IncomingHttpHeaders,
): Record<string, string> | undefined {
  const { origin } = headers;
  const isPreflight = method === 'OPTIONS';
  const asked = isPreflight ? headers['access-control-request-method'] : method;
  const wanted = (isPreflight ? (headers['access-control-request-headers'] ?? '') : '')
    .split(',')
    .flatMap((name) => name.trim().toLowerCase() || []);
  if (origin === undefined || asked === undefined) return undefined;
  const rule = rules.find(
    ({ AllowedOrigins, AllowedMethods, AllowedHeaders = [] }) =>
      AllowedOrigins.some((pattern) => matches(pattern, origin)) &&
      AllowedMethods.includes(asked) &&
      wanted.every((name) => AllowedHeaders.some((pattern) => matches(pattern.toLowerCase(), name))),
  );
  if (!rule) return undefined;
  const anyOrigin = rule.AllowedOrigins.includes('*');
  return {
    'access-control-allow-origin': anyOrigin ? '*' : origin,
    'access-control-allow-methods': rule.AllowedMethods.join(', '),
    ...(anyOrigin ? {} : { 'access-control-allow-credentials': 'true' }),
    ...(wanted.length > 0 && { 'access-control-allow-headers': wanted.join(', ') }),
    ...(rule.ExposedHeaders?.length && { 'access-control-expose-headers': rule.ExposedHeaders.join(', ') }),
    ...(isPreflight && rule.MaxAge !== undefined && { 'access-control-max-age': String(rule.MaxAge) }),
    vary: 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method',
  };
}
