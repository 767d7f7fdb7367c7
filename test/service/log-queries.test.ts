import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CloudWatchLogsClient, GetQueryResultsCommand, StartQueryCommand } from '@aws-sdk/client-cloudwatch-logs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { queryText, SAVED_QUERIES, type SavedQueryName } from '../../infra/settings/log-queries.ts';
import { logIn } from '../../local-aws/identity-provider/log-in.ts';
import { fieldsOf, parseQuery } from '../../local-aws/logs/parse-query.ts';
import { adminProcessJson } from '../support/admin.ts';
import { client } from '../support/client.ts';
import { askForTicket } from '../support/lanes.ts';
import { borrowTestService, type TestAccount, type TestService } from '../support/service.ts';
import { synthesized } from '../support/synthesized.ts';
import { withFault } from '../support/with-fault.ts';

/** Runs every saved query on lines that the service has written, and checks the audit trail. */

const FILE_NAME = 'a-name-that-no-log-may-have.txt';
const KEY_NAME = 'a-key-that-no-log-may-name';

let service: TestService;
let account: TestAccount;
let logs: CloudWatchLogsClient;
const asked: Partial<Record<SavedQueryName, string>> = {};
/** What no line may contain, except a line of the log of downloads. */
const secrets: string[] = [FILE_NAME, KEY_NAME];

beforeAll(async () => {
  service = await borrowTestService();
  const environment = JSON.parse(readFileSync(join(service.dataDir, 'operator.json'), 'utf8'));
  logs = new CloudWatchLogsClient({
    endpoint: environment.AWS_ENDPOINT_URL,
    region: environment.AWS_REGION,
    credentials: { accessKeyId: environment.AWS_ACCESS_KEY_ID, secretAccessKey: environment.AWS_SECRET_ACCESS_KEY },
  });
  account = await service.newAccount(`${randomUUID()}@example.com`);
  await writeLines();
});
afterAll(async () => {
  logs.destroy();
  await service.close();
});

/**
 * Makes the service write lines that every query finds: uploads, refusals of function, gateway and edge, a failure, all events of the audit
 * trail.
 */
async function writeLines(): Promise<void> {
  const { byKey, bySession, cookie, key } = account;
  const { body: file } = await byKey.upload(FILE_NAME, 'hello');
  await fetch(String(file.url)).then((response) => response.arrayBuffer());
  const { body: ticket } = await askForTicket(byKey, FILE_NAME, 5);
  await byKey.request('POST', `/uploads/${ticket.id}/complete`);
  await fetch(ticket.upload.url, { method: 'PUT', headers: ticket.upload.headers, body: 'hello' });
  await vi.waitUntil(() => service.logs.some((line) => line.includes('upload arrived') && line.includes(ticket.id)), {
    timeout: 10_000,
  });
  const failing = { match: { service: 'dynamodb', operation: 'GetItem', table: service.tables.files } as const };
  const failed = await withFault(service, { ...failing, effect: 'error-before' }, () =>
    byKey.request('GET', `/files/${ticket.id}`),
  );
  await client(service.gatewayUrl.replace(/\/$/, ''), {}).request('GET', '/health');
  const edge = await byKey.request('GET', '//files');
  const made = await bySession.postJson('/api-keys', { name: KEY_NAME });
  await bySession.request('DELETE', `/api-keys/${made.body.id}`);
  const startUrl = `${service.urls.base_url}/auth/google`;
  const { cookies: second } = await logIn({ startUrl, email: account.email });
  await client(service.urls.base_url, { cookie: second }).request('POST', '/auth/logout');
  await adminProcessJson(service, '--yes', 'set-limit', account.id, '1000000');
  await askForTicket(byKey, FILE_NAME, 2_000_000);
  await adminProcessJson(service, '--yes', 'take-down', String(file.url));
  await bySession.request('DELETE', '/auth/sessions');
  secrets.push(key, cookie.split('=')[1] ?? '', second.split('=')[1] ?? '', String(made.body.key), String(file.url));
  Object.assign(asked, {
    'by-account': account.id,
    'by-key-prefix': key.slice(0, 12),
    'by-request-id': failed.headers.get('x-request-id'),
    'by-resource': ticket.id,
    'by-client-address': '127.0.0.1',
    'refusals-of-account': account.id,
    'audit-trail': account.id,
    'edge-by-client-address': '127.0.0.1',
    'edge-by-request-id': edge.headers.get('x-request-id'),
  });
}

type Row = Record<string, string>;

type GroupName = { readonly Ref?: string; readonly 'Fn::GetStackOutput'?: { readonly OutputName: string } };

/** The log groups that the stacks save a query for, by their physical names. */
async function groupsOf(name: SavedQueryName): Promise<string[]> {
  const stacks = await Promise.all(
    ['Operations', 'EdgeAlarms'].map((stack) => synthesized(stack, 'AWS::Logs::QueryDefinition')),
  );
  const mine = stacks.flat().find(({ Properties }) => Properties.Name === `FileHosting/local/${name}`);
  const ids = ((mine?.Properties.LogGroupNames ?? []) as GroupName[]).map(
    ({ Ref, 'Fn::GetStackOutput': output }) =>
      Ref ?? output?.OutputName.replace(/^PublishOutputRef(.*)[0-9A-F]{8}$/, '$1').replace(/^Published/, ''),
  );
  const groups = service.logGroups.names.filter((group) => ids.some((id) => group.includes(`-${id}`)));
  expect([name, groups.length]).toEqual([name, ids.length]);
  return groups;
}

async function run(name: SavedQueryName, value = asked[name]): Promise<Row[]> {
  const now = Math.floor(Date.now() / 1_000);
  const times = { startTime: now - 600, endTime: now + 10 };
  const logGroupNames = await groupsOf(name);
  const queryString = queryText(name, value);
  const { queryId } = await logs.send(new StartQueryCommand({ logGroupNames, queryString, ...times }));
  await logs.send(new GetQueryResultsCommand({ queryId }));
  const { results = [] } = await logs.send(new GetQueryResultsCommand({ queryId }));
  return results.map((row) => Object.fromEntries(row.map(({ field = '', value = '' }) => [field, value])));
}

const NAMES = Object.keys(SAVED_QUERIES) as SavedQueryName[];

describe('the saved query', () => {
  test.each(NAMES)('%s finds lines that the service wrote', async (name) => {
    await expect.poll(async () => (await run(name)).length).toBeGreaterThan(0);
  });

  test.each(NAMES)('%s reads only fields that some line has', async (name) => {
    const groups = await groupsOf(name);
    const lines = groups.flatMap((group) => service.logGroups.between(group, 0, Date.now() + 1_000));
    const written = new Set(
      lines.flatMap(({ message }) => (message.startsWith('{') ? Object.keys(JSON.parse(message)) : [])),
    );
    const own = ['@timestamp', '@message', '@log'];
    expect(
      fieldsOf(parseQuery(SAVED_QUERIES[name].text)).filter((field) => !own.includes(field) && !written.has(field)),
    ).toEqual([]);
  });

  test('by-request-id shows the lines of the function and of the gateway', async () => {
    const rows = await run('by-request-id');
    expect(rows).toContainEqual(
      expect.objectContaining({ route: 'getFile', code: 'service_unavailable', account_id: account.id }),
    );
    expect(rows).toContainEqual(
      expect.objectContaining({ route: 'GET /api/v1/files/{id}', integration_status: '200' }),
    );
  });

  test('edge-by-request-id finds a request that no function has seen, by the id of its answer', async () => {
    expect(await run('edge-by-request-id')).toEqual([
      expect.objectContaining({ 'cs-uri-stem': '/api/v1//files', 'sc-status': '404', 'c-ip': '127.0.0.1' }),
    ]);
  });

  test('refused-by-gateway counts requests that no function has seen', async () => {
    expect(await run('refused-by-gateway')).toContainEqual(
      expect.objectContaining({ gateway_response: 'INVALID_API_KEY' }),
    );
  });

  test('refusals-of-account gives the request id of the last refusal for each reason', async () => {
    expect(await run('refusals-of-account')).toContainEqual(
      expect.objectContaining({
        route: 'completeUpload',
        code: 'upload_incomplete',
        refusals: '1',
        request_id: expect.any(String),
      }),
    );
  });

  describe.for(['Streaming', 'GetFile'])('by-client-address in the log of the function %s', (fn) => {
    const address = fn === 'Streaming' ? '198.51.100.1' : '198.51.100.2';
    const line = (text: string) => ({ level: 'info', message: 'request', client_address: text });
    /** Lambda may wrap a line of a Web Function as a text or as an object. */
    const shapesOf = (text: string) => [
      JSON.stringify(line(text)),
      JSON.stringify({ type: 'app', level: 'INFO', message: JSON.stringify(line(text)) }),
      JSON.stringify({ type: 'app', level: 'INFO', message: line(text) }),
    ];

    test('finds an address in a line of any shape, and no address that contains it', async () => {
      const [group = ''] = (await groupsOf('by-client-address')).filter((name) => name.includes(fn));
      for (const other of [`${address}0`, `1${address}`, `${address}:${address}`]) {
        for (const message of shapesOf(other)) service.logGroups.append(group, message);
      }
      expect(await run('by-client-address', address)).toEqual([]);
      for (const message of shapesOf(address)) service.logGroups.append(group, message);
      expect(await run('by-client-address', address)).toHaveLength(3);
    });
  });

  test.each(['by-account', 'by-key-prefix', 'by-client-address', 'refusals-of-account', 'audit-trail'] as const)(
    '%s finds no line of a client that sent the searched value only in its user agent',
    async (name) => {
      const before = await run(name);
      const value = String(asked[name]);
      const forged = { account_id: value, key_prefix: value, client_address: value };
      const mine = { account_id: crypto.randomUUID(), key_prefix: 'svc_test_zzz', client_address: '203.0.113.9' };
      const [group = ''] = service.logGroups.names.filter((found) => found.includes('-AuditLog'));
      for (const message of ['audit', 'request']) {
        const sent = { level: 'info', message, code: 'x', ...mine, user_agent: JSON.stringify(forged) };
        service.logGroups.append(group, JSON.stringify(sent));
      }
      expect(await run(name)).toEqual(before);
    },
  );

  test('is refused with a value that is no id, prefix or address', () => {
    expect(() => queryText('by-account', 'x" or 1 = 1 | limit 10 "')).toThrow('is not a valid account');
  });
});

describe('the audit trail', () => {
  test('has each login, logout, key and session of an account, with client and time', async () => {
    const rows = await run('audit-trail');
    const events = rows.map(({ event, outcome }) => (outcome === undefined ? event : `${event} ${outcome}`)).reverse();
    expect(events).toEqual([
      'login',
      'api_key_created',
      'api_key_created',
      'api_key_revoked',
      'login',
      'logout',
      'storage_limit_changed begun',
      'storage_limit_changed done',
      'file_taken_down begun',
      'file_taken_down done',
      'sessions_ended',
    ]);
    const byPeople = rows.filter(({ operator }) => operator === undefined);
    const client = {
      '@timestamp': expect.any(String),
      account_id: account.id,
      client_address: '127.0.0.1',
      user_agent: expect.any(String),
      request_id: expect.any(String),
    };
    for (const row of byPeople) expect(row).toMatchObject(client);
    const [, key] = rows.toReversed();
    expect(key).toMatchObject({
      event: 'api_key_created',
      key_prefix: account.key.slice(0, 12),
      key_id: expect.any(String),
    });
    const sessions = (name: string) => rows.filter(({ event }) => event === name).map(({ session }) => session);
    expect(sessions('login')).toContain(sessions('logout')[0]);
    expect(rows.find(({ event }) => event === 'file_taken_down')).toMatchObject({
      operator: expect.stringMatching(/^arn:aws:sts::\d{12}:assumed-role\/operator\//),
      file_id: expect.any(String),
    });
  });

  test('does not count a refused login as a request of the key that its user agent names', async () => {
    const before = await run('by-key-prefix');
    const at = Date.now();
    await fetch(`${service.urls.base_url}/auth/google/callback?state=a&code=b`, {
      redirect: 'manual',
      headers: { 'user-agent': `x key_prefix":"${asked['by-key-prefix']}"` },
    });
    const [group = ''] = service.logGroups.names.filter((name) => name.includes('-AuditLog'));
    await expect
      .poll(() =>
        service.logGroups
          .between(group, at, Date.now())
          .map(({ message }) => message)
          .join(),
      )
      .toContain('login_refused');
    expect(await run('by-key-prefix')).toEqual(before);
  });

  test('has a refused login, with its reason', async () => {
    const at = Date.now();
    await fetch(`${service.urls.base_url}/auth/google/callback?state=a&code=b`, { redirect: 'manual' });
    const [group = ''] = service.logGroups.names.filter((name) => name.includes('-AuditLog'));
    const refused = () =>
      service.logGroups.between(group, at, Date.now()).filter(({ message }) => message.includes('login_refused'));
    await expect
      .poll(() => refused().map(({ message }) => JSON.parse(message)))
      .toEqual([
        expect.objectContaining({
          message: 'audit',
          event: 'login_refused',
          code: 'expired',
          client_address: '127.0.0.1',
        }),
      ]);
  });

  test('no log but that of downloads has a secret, a file name or the name of a key', () => {
    const groups = service.logGroups.names.filter((group) => !group.includes('-Downloads'));
    const lines = groups.flatMap((group) => service.logGroups.between(group, 0, Date.now() + 1_000));
    expect(lines.length).toBeGreaterThan(20);
    expect(secrets.every((secret) => secret.length > 10)).toBe(true);
    expect(lines.filter(({ message }) => secrets.some((secret) => message.includes(secret)))).toEqual([]);
  });

  test('is kept for 90 days, and every role may only add lines to it', async () => {
    const groups = await synthesized('Data', 'AWS::Logs::LogGroup');
    const [trail] = groups.filter(({ logicalId }) => logicalId.startsWith('AuditLog'));
    expect(trail?.Properties).toMatchObject({ RetentionInDays: 90 });
    const policies = await Promise.all(
      ['Data', 'Api', 'Streaming', 'Edge'].map((stack) => synthesized(stack, 'AWS::IAM::Policy')),
    );
    type Document = { readonly Statement: readonly { readonly Action: string | string[] }[] };
    const actions = policies
      .flat()
      .flatMap(({ Properties }) => (Properties.PolicyDocument as Document).Statement.flatMap(({ Action }) => Action));
    expect(new Set(actions.filter((action) => action.startsWith('logs:')))).toEqual(
      new Set(['logs:CreateLogStream', 'logs:PutLogEvents']),
    );
  });
});
