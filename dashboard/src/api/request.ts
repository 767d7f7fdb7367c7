import { Failure, failureOf } from './failure.ts';
import { pause } from './pause.ts';

export const API = '/api/v1';

export interface RequestOptions {
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends one request to the API, with the session's cookie.
 * @returns the JSON object of the answer.
 * @throws Failure for an error answer or when there is no answer, and an `AbortError` when it is aborted.
 */
export async function request<Answer>(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  { json, headers, signal }: RequestOptions = {},
): Promise<Answer> {
  const response = await fetch(API + path, {
    method,
    headers: { ...headers, ...(json !== undefined && { 'Content-Type': 'application/json' }) },
    ...(json !== undefined && { body: JSON.stringify(json) }),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new Failure('offline');
  });
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) throw failureOf(body, response.headers.get('Retry-After'));
  return body as Answer;
}

/**
 * Sends a request like {@link request}, and repeats it as long as the rate limit is used up. Work with many requests uses it.
 * @param options.onHeld  called with true when it starts to wait, and with false when it continues.
 * @throws Failure for any other error.
 */
export async function pacedRequest<Answer>(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  { onHeld, ...options }: RequestOptions & { readonly onHeld?: (isHeld: boolean) => void } = {},
): Promise<Answer> {
  for (;;) {
    try {
      return await request<Answer>(method, path, options);
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'rate_limit_exceeded') throw error;
      onHeld?.(true);
      await pause(error.retryAfterSeconds ?? 1, options.signal);
      onHeld?.(false);
    }
  }
}
