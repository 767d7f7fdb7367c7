import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { requestLine } from '../../infra/local/report.ts';
import type { Fault } from '../../local-aws/service.ts';
import { generateKey } from '../../shared/api-keys/key-format.ts';
import { ERRORS } from '../../shared/contract/errors.ts';
import { eachOf } from '../../shared/each-of.ts';
import { randomToken } from '../../shared/ids.ts';
import { inChunks, rawRequest, sendAndDisconnect } from '../support/raw-http.ts';
import { startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { IS_THOROUGH } from '../support/thorough.ts';
import { withFault } from '../support/with-fault.ts';
import { everyRoute, FORM, form, type SentRequest } from './every-route.ts';
import { leaksIn, recordingFetch, recordSecret } from './recorded-secrets.ts';

/**
 * No secret is in a log line of the functions, the streaming server or `npm start`. The body of an error contains only its code, and its
 * `Error-Detail` no secret and no path. The tests record
 * every secret that they send or receive, and search the lines for them.
 */

let service: TestService;
let account: TestAccount;
const requestLines: string[] = [];
const errors: { readonly path: string; readonly text: string; readonly headers: Headers; readonly status: number }[] =
  [];

const lines = () => [...service.logs, ...requestLines];

beforeAll(async () => {
  vi.stubGlobal('fetch', recordingFetch);
  service = await startTestService(
    {
      RATE_LIMIT_UPLOADS_PER_MINUTE: '100000',
      RATE_LIMIT_LISTS_PER_MINUTE: '100000',
      RATE_LIMIT_REQUESTS_PER_MINUTE: '100000',
    },
    { onRequest: (request) => requestLines.push(requestLine(request)) },
  );
  await recordOwnSecrets();
  account = await service.newAccount('first@example.com');
});
afterAll(async () => {
  vi.unstubAllGlobals();
  await service.close();
  expectNoLeaks();
});
afterEach(expectNoLeaks);

function expectNoLeaks(): void {
  expect(leaksIn(lines())).toEqual([]);
  // No line contains a line break or a control character, which could forge a line or control a terminal.
  expect(lines().filter((line) => /\p{Cc}/u.test(line) || FORGED_LINE.test(line))).toEqual([]);
  const bodies = Object.keys(ERRORS).map((code) => JSON.stringify({ error: code }));
  const isPlain = ({ path, text }: (typeof errors)[number]) =>
    path === '/health' ? DEGRADED.test(text) : bodies.includes(text);
  expect(errors.filter((error) => !isPlain(error))).toEqual([]);
  const details = errors.map(({ headers }) => headers.get('error-detail')).filter((detail) => detail !== null);
  expect(leaksIn(details)).toEqual([]);
  // A path begins at the beginning of a word, and a type of content does not.
  expect(details.filter((detail) => !/^[ -~]{1,200}$/.test(detail) || /(?<!\w)\/|\w:\\|FORGED/i.test(detail))).toEqual(
    [],
  );
  const unexplained = errors.filter(({ status, headers }) => status < 500 && !headers.has('error-detail'));
  // A function logs every request. Edge and gateway explain nothing.
  const ofFunctions = unexplained.filter(({ headers }) => {
    const id = headers.get('x-request-id');
    return id && service.logs.some((line) => line.includes(id));
  });
  expect(ofFunctions).toEqual([]);
}

/** The beginning of the log line that a file name tries to forge. The name of a function may precede it. */
const FORGED = '{"forged":"by a name"';
const FORGED_LINE = /^(\S+ )?\{"forged"/;
const DEGRADED = /^\{"status":"degraded","db":"(ok|error)","storage":"(ok|error)"\}$/;

/** Records what the functions read from Secrets Manager, and the keys that they sign with. */
async function recordOwnSecrets(): Promise<void> {
  const credentials = { accessKeyId: 'READER', secretAccessKey: 'reader' };
  const everything = { Statement: [{ Effect: 'Allow' as const, Action: '*', Resource: '*' }] };
  service.front.addPrincipal({ ...credentials, name: 'reader', policies: [everything] });
  const client = new SecretsManagerClient({ endpoint: service.front.endpoint, region: 'us-east-1', credentials });
  const { LOGIN_CLIENT_SECRET, ORIGIN_SECRET } = service.lambda.find('FinishLoginFunction').variables;
  for (const SecretId of [LOGIN_CLIENT_SECRET, ORIGIN_SECRET]) {
    const { SecretString = '' } = await client.send(new GetSecretValueCommand({ SecretId }));
    const { client_secret, a, b } = JSON.parse(SecretString) as Record<string, string | undefined>;
    // The origin secret has one of its two slots filled, or both during a rotation.
    const values = [client_secret, a, b].filter((value) => value !== undefined);
    expect(values.length).toBeGreaterThan(0);
    for (const value of values) recordSecret('secret', value);
  }
  client.destroy();
  for (const label of ['GetFileFunction', 'UploadFileFunction', 'StartLoginFunction']) {
    const { secretAccessKey, sessionToken } = service.lambda.find(label).credentials;
    recordSecret('secret access key', secretAccessKey);
    recordSecret('session token', sessionToken);
  }
}

/** Sends a request, and records an error. */
async function ask({ method, path, headers = {}, body }: SentRequest): Promise<Response> {
  const url = `${service.urls.root_url}${path}`;
  const init = { redirect: 'manual', method, headers, ...(body !== undefined && { body, duplex: 'half' }) };
  const response = await fetch(url, init as RequestInit);
  const { headers: answered, status } = response;
  if (status >= 400)
    errors.push({ path: new URL(url).pathname, text: await response.text(), headers: answered, status });
  return response;
}

const byKey = (key = account.key) => ({ authorization: `Bearer ${key}` });
const bySession = (cookie = account.cookie) => ({ cookie, origin: service.urls.root_url });
/** Every request by key and by session, except those that end the session. */
const byKeyAndSession = (what: { id: string; text: string }) => [
  ...everyRoute(byKey(), what),
  ...everyRoute(bySession(), what).filter(({ path }) => !/logout|auth\/sessions/.test(path)),
];
const askAll = (requests: readonly SentRequest[]) => eachOf(requests, 8, ask);

async function fileOf({ byKey: client }: TestAccount): Promise<string> {
  return String((await client.upload('a.txt', 'content')).body.id);
}

test('the search finds a line with a piece of a secret', () => {
  expect(leaksIn([`x ${account.key.slice(20, 40)} y`])).toHaveLength(1);
  expect(leaksIn([`x ${account.cookie.slice(-20)} y`])).toHaveLength(1);
  expect(leaksIn([`x ${account.key.slice(0, 12)} y`])).toEqual([]);
});

describe('no line contains a secret, and no error more than its code:', () => {
  test('requests that succeed log no secret', async () => {
    const { body } = await account.byKey.postJson('/uploads', { name: 'a', mime_type: 'text/plain', size_bytes: 1 });
    const { url, headers } = body.upload as { url: string; headers: Record<string, string> };
    await fetch(url, { method: 'PUT', headers, body: 'a' });
    await account.byKey.request('POST', `/uploads/${body.id}/complete`);
    const file = await account.byKey.request('GET', `/files/${body.id}`);
    expect((await fetch(String(file.body.url))).status).toBe(200);
    const other = await service.newAccount('second@example.com');
    await askAll(everyRoute(bySession(other.cookie), { id: await fileOf(other), text: other.key }));
    await askAll(everyRoute(byKey(), { id: await fileOf(account), text: account.key }));
    await service.runSchedules();
    expect(lines().length).toBeGreaterThan(50);
  });

  test('requests with invalid credentials in every place log no secret', async () => {
    for (const key of [generateKey('test'), generateKey('live'), account.key.slice(0, -1)]) {
      recordSecret('key', key);
      await askAll(everyRoute(byKey(key), { id: key, text: key }));
      await askAll(everyRoute({ authorization: `Basic ${key}` }, { id: `..%2f${key}`, text: key }));
      await askAll(everyRoute(bySession(`session=${key}`), { id: `${key}/${key}`, text: key }));
      await askAll(
        everyRoute({ ...byKey(key), ...bySession(), origin: `https://${key}.example` }, { id: key, text: key }),
      );
    }
  });

  test('uploads with names that try to forge a log line log no secret', async () => {
    for (const text of [`a\r\n${FORGED}}\n${FORGED}}`, '\x1b[31ma\x1b[2J\u009b31ma\u2028b\u0085c']) {
      const shown = text.replaceAll('\r\n', '%0D%0A').replaceAll('"', '%22');
      await askAll([
        ...byKeyAndSession({ id: encodeURIComponent(text), text }),
        { method: 'POST', path: '/api/v1/files', headers: { ...byKey(), ...FORM }, body: form(shown) },
      ]);
    }
    // A header may have bytes that are control characters of a terminal, too.
    const headers = { 'user-agent': '\x9b31ma\x85' };
    await ask({ method: 'GET', path: '/api/v1/auth/google/callback?state=a', headers });
    await expect.poll(() => lines().some((line) => line.includes('31ma'))).toBe(true);
  });

  const failures: readonly [string, Fault['effect'], Fault['match']][] = [
    ['DynamoDB fails', 'error-before', { service: 'dynamodb' }],
  ];
  /** Only `npm run test:soak` tries these. They are slow, because the SDK waits between retries, and they cause the same kinds of lines. */
  const moreFailures: typeof failures = [
    ['DynamoDB throttles', 'throttle', { service: 'dynamodb' }],
    ['DynamoDB cuts connections', 'cut', { service: 'dynamodb' }],
    ['S3 cuts connections', 'cut-after', { service: 's3' }],
    ['S3 fails', 'error-before', { service: 's3' }],
    ['S3 throttles', 'throttle', { service: 's3' }],
  ];
  test.for(IS_THOROUGH ? [...failures, ...moreFailures] : failures)(
    'requests while %s log no secret',
    async ([, effect, match]) => {
      const text = `${account.key}\n${FORGED}`;
      const id = await fileOf(account);
      // The calls of authentication and rate limiting do not fail, because otherwise the code after them would not run.
      const isAdmission = (tables: readonly string[]) =>
        tables.some((name) =>
          [service.tables.apiKeys, service.tables.sessions, service.tables.rateLimits].includes(name),
        );
      const fault: Fault = { match: { ...match, predicate: ({ tables }) => !isAdmission(tables) }, effect };
      await withFault(service, fault, async () => {
        await askAll(byKeyAndSession({ id, text }));
        await service.runSchedules();
      });
    },
  );

  test('killed functions and disconnected clients leave no secret in the log', async () => {
    const asks = everyRoute(byKey(), { id: await fileOf(account), text: account.key });
    const slow: Fault = { match: { service: 'dynamodb' }, effect: { delayMs: 300 } };
    await withFault(service, slow, async (fault) => {
      const answers = askAll(asks);
      await expect.poll(() => fault.hits).toBeGreaterThan(5);
      for (const label of ['GetFileFunction', 'UploadFileFunction', 'ListFilesFunction']) {
        await service.lambda.killEnvironments(service.lambda.find(label).arn);
      }
      await service.stopWebFunctions();
      await answers;
    });
    const headers = [`Authorization: Bearer ${account.key}`, 'Content-Type: multipart/form-data; boundary=B'];
    const request = rawRequest(
      `POST /api/v1/files?key=${account.key}`,
      [...headers, 'Transfer-Encoding: chunked'],
      inChunks(form(account.key), 50),
    );
    for (const cut of [20, 60, 100]) await sendAndDisconnect(service.urls.root_url, request.slice(0, -cut));
  });

  test('failures of the login provider, and an invalid value of its secret, leave no secret in the log', async () => {
    await expect(service.newAccount('unverified@example.com')).rejects.toThrow('no key');
    const start = await ask({ method: 'GET', path: '/api/v1/auth/google' });
    const cookie = start.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ');
    const state = new URL(start.headers.get('location') ?? '').searchParams.get('state');
    const code = randomToken(256);
    const finish = () =>
      ask({ method: 'GET', path: `/api/v1/auth/google/callback?code=${code}&state=${state}`, headers: { cookie } });
    expect((await finish()).headers.get('location')).toContain('error=login_failed');

    const { LOGIN_CLIENT_SECRET = '', LOGIN_PROVIDER_PARAMETER = '' } =
      service.lambda.find('FinishLoginFunction').variables;
    const name = /:secret:(.*)-.{6}$/.exec(LOGIN_CLIENT_SECRET)?.[1] ?? '';
    const client_secret = randomToken(256);
    recordSecret('client secret', client_secret);
    const nowhere = 'http://127.0.0.1:9/';
    const unreachable = JSON.stringify({
      client_id: 'x',
      issuer: nowhere,
      authorization_endpoint: nowhere,
      token_endpoint: nowhere,
      jwks_uri: nowhere,
    });
    const secret = JSON.stringify({ client_secret });
    for (const [provider, value, started, finished] of [
      [unreachable, secret, 302, 302],
      // The random value that AWS generates, until the operator replaces it. A login can start, because it does not read the secret.
      [unreachable, client_secret, 302, 503],
      [unreachable, `{"client_secret":"${client_secret}" oops`, 302, 503],
      [unreachable, '{"client_secret":7}', 302, 503],
      // The operator has put the secret into the parameter as well.
      [JSON.stringify({ client_secret, client_id: 'x' }), secret, 503, 503],
      [`{"client_secret":"${client_secret}" oops`, secret, 503, 503],
    ] as const) {
      service.front.secrets.set(name, value);
      service.front.parameters[LOGIN_PROVIDER_PARAMETER] = provider;
      for (const label of ['StartLoginFunction', 'FinishLoginFunction']) {
        await service.lambda.killEnvironments(service.lambda.find(label).arn);
      }
      expect((await finish()).status).toBe(finished);
      expect((await ask({ method: 'GET', path: '/api/v1/auth/google' })).status).toBe(started);
    }
    const missing = `secret ${LOGIN_CLIENT_SECRET} is not filled in: it has no client_secret`;
    const misplaced = `parameter ${LOGIN_PROVIDER_PARAMETER} is not filled in: it has a client_secret`;
    await expect.poll(() => lines().filter((line) => line.includes(missing)).length).toBe(1);
    await expect.poll(() => lines().filter((line) => line.includes(misplaced)).length).toBe(2);
  });
});
