import { authenticateKey } from '../shared/api-keys/api-key.ts';
import { apiKeyCredentials } from '../shared/aws/api-key-store.ts';
import { fileStore } from '../shared/aws/file-store.ts';
import { rateLimitStore } from '../shared/aws/rate-limit-store.ts';
import { limit, required } from '../shared/env.ts';
import { getFile, toFileRecord } from '../shared/files/file-record.ts';
import { type ApiEvent, headerValues } from '../shared/http/request.ts';
import { ok } from '../shared/http/response.ts';
import { log } from '../shared/log.ts';
import { rateKey, ratePolicy } from '../shared/rate-limit/policy.ts';
import { admit, rateLimitHeaders } from '../shared/rate-limit/rate-limiter.ts';

/**
 * The steps of `functions/get-file.ts` in one function, without the middleware of the routes, and without handling failures. The
 * benchmark compares the product's function with it.
 */

const cdnUrl = required('CDN_URL');
const policy = ratePolicy(limit('RATE_LIMIT_REQUESTS_PER_MINUTE'));

export async function handler(event: ApiEvent) {
  const startedAt = performance.now();
  const [authorization = ''] = headerValues(event, 'authorization');
  const holder = await authenticateKey(apiKeyCredentials, authorization.slice('Bearer '.length));
  if (!holder) throw new Error('no such key');
  const { accountId } = holder;
  const key = rateKey('requests', policy.limit, accountId);
  const decision = await admit(rateLimitStore, { key, policy, now: Date.now() });
  const file = await getFile({ files: fileStore }, { accountId, id: event.pathParameters?.id ?? '' });
  const answer = ok(toFileRecord(file, cdnUrl));
  const { requestId } = event.requestContext;
  const ms = Math.round(performance.now() - startedAt);
  log('info', 'request', {
    request_id: requestId,
    route: 'getFile',
    method: event.httpMethod,
    status: 200,
    ms,
    accountId,
  });
  const headers = { ...answer.headers, ...rateLimitHeaders(decision, 'requests') };
  const base = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff', 'X-Request-Id': requestId };
  return { ...answer, headers: { ...headers, ...base } };
}
