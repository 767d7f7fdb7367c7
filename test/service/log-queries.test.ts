import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { SAVED_QUERIES, type SavedQueryName } from '../../infra/settings/log-queries.ts';
import { logIn } from '../../local-aws/identity-provider/log-in.ts';
import { adminProcessJson } from '../support/admin.ts';
import { client } from '../support/client.ts';
import { askForTicket } from '../support/lanes.ts';
import { borrowTestService, type TestAccount, type TestService } from '../support/service.ts';
import { synthesized } from '../support/synthesized.ts';
import { withFault } from '../support/with-fault.ts';

/** The saved queries, the searches of `npm run admin` and the audit trail, on lines that the service has written. */

const FILE_NAME = 'a-name-that-no-log-may-have.txt';
const KEY_NAME = 'a-key-that-no-log-may-name';

let service: TestService;
let account: TestAccount;
/** What an operator may ask for, by what it is. */
const asked: Record<string, string> = {};
/** What no line may contain, except a line of the log of downloads. */
const secrets: string[] = [FILE_NAME, KEY_NAME];

beforeAll(async () => {
  service = await borrowTestService();
  account = await service.newAccount(`${randomUUID()}@example.com`);
  await writeLines();
});
afterAll(() => service.close());

/**
 * Makes the service write lines that every query would find: uploads, refusals of function, gateway and edge, a failure, all events of the audit
 * trail.
 */
async function writeLines(): Promise<void> {
  const { byKey, bySession, cookie, key } = account;
  const { body: file } = await byKey.upload(FILE_NAME, 'hello');
  await fetch(String(file.url)).then((response) => response.arrayBuffer());
  const { body: ticket } = await askForTicket(byKey, FILE_NAME, 5);
  await byKey.request('POST', `/uploads/${ticket.id}/complete`);
  await fetch(ticket.upload.url, { method: 'PUT', headers: ticket.upload.headers, body: 'hello' });
  const arrived = (line: string) => line.includes('upload arrived') && line.includes(ticket.id);
  await vi.waitUntil(() => service.logs.some(arrived), { timeout: 120_000 });
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
  const { cookies: third } = await logIn({ startUrl, email: account.email });
  const { body: sessions } = await bySession.request<{ items: Row[] }>('GET', '/auth/sessions');
  await bySession.request('DELETE', `/auth/sessions/${sessions.items.find(({ current }) => !current)?.id}`);
  await adminProcessJson(service, '--yes', 'set-limit', account.id, '1000000');
  await askForTicket(byKey, FILE_NAME, 2_000_000);
  await adminProcessJson(service, '--yes', 'take-down', String(file.url));
  await bySession.request('DELETE', '/auth/sessions');
  secrets.push(
    account.email,
    key,
    cookie.split('=')[1] ?? '',
    second.split('=')[1] ?? '',
    third.split('=')[1] ?? '',
    String(made.body.key),
    String(file.url),
  );
  Object.assign(asked, {
    account: account.id,
    'key prefix': key.slice(0, 12),
    request: failed.headers.get('x-request-id'),
    file: ticket.id,
    address: '127.0.0.1',
    'request at the edge': edge.headers.get('x-request-id'),
  });
}

type Row = Record<string, string>;

/** The log groups that the stacks save a query for, by their physical names. */
async function groupsOf(name: SavedQueryName): Promise<string[]> {
  const stacks = await Promise.all(
    ['Operations', 'EdgeAlarms'].map((stack) => synthesized(stack, 'AWS::Logs::QueryDefinition')),
  );
  const mine = stacks.flat().find(({ Properties }) => Properties.Name === `FileHosting/local/${name}`);
  const named = (mine?.Properties.LogGroupNames ?? []) as (string | { readonly Ref: string })[];
  const groups = named.map((group) => {
    if (typeof group === 'string') return group;
    const id = group.Ref.replace(/^Shared/, '');
    return service.logGroups.names.find((known) => known.includes(`-${id}`));
  });
  expect(service.logGroups.names).toEqual(expect.arrayContaining(groups));
  return groups as string[];
}

const NAMES = Object.keys(SAVED_QUERIES) as SavedQueryName[];

/** The words of the language of queries, as far as the saved queries use it. */
const LANGUAGE = 'fields filter stats sort limit by as asc desc and or not like in ispresent count sum latest'.split(
  ' ',
);

/** The fields that a query reads: its words outside of texts and regular expressions, without those that it makes itself. */
function fieldsIn(query: string): string[] {
  const made = [...query.matchAll(/ as (\w+)/g)].map(([, name]) => name);
  const words = query.replace(/"[^"]*"|\/[^/]+\//g, '').match(/`[^`]+`|@?[a-z]\w*/gi) ?? [];
  return words.map((word) => word.replaceAll('`', '')).filter((word) => ![...LANGUAGE, ...made].includes(word));
}

describe('the saved query', () => {
  test.each(NAMES)('%s reads only fields that some line of its logs has', async (name) => {
    const groups = await groupsOf(name);
    const missing = () => {
      const lines = groups.flatMap((group) => service.logGroups.between(group, 0, Date.now() + 1_000));
      const written = lines.flatMap(({ message }) => (message.startsWith('{') ? Object.keys(JSON.parse(message)) : []));
      const known = new Set([...written, '@timestamp', '@message', '@log']);
      return fieldsIn(SAVED_QUERIES[name].text).filter((field) => !known.has(field));
    };
    expect(fieldsIn(SAVED_QUERIES[name].text).length).toBeGreaterThan(1);
    await expect.poll(missing).toEqual([]);
  });

  test('has the text that was read and found right', async () => {
    const texts = Object.fromEntries(Object.entries(SAVED_QUERIES).map(([name, { text }]) => [name, text]));
    const record = join(import.meta.dirname, 'saved-queries.json');
    await expect(`${JSON.stringify(texts, null, 2)}\n`).toMatchFileSnapshot(record);
  });
});

const run = async (what = '') => (await adminProcessJson(service, 'requests', what)).requests as Row[];
const trail = async () => (await adminProcessJson(service, 'audit', account.id)).events as Row[];
const auditLog = () => service.logGroups.names.find((name) => name.includes('-AuditLog')) ?? '';

describe('the operator', () => {
  test('finds the lines of the function and of the gateway by a request id', async () => {
    const byFunction = { route: 'getFile', code: 'service_unavailable', account_id: account.id };
    const byGateway = { route: 'GET /api/v1/files/{id}', integration_status: '200' };
    await expect
      .poll(() => run(asked.request))
      .toEqual(expect.arrayContaining([expect.objectContaining(byFunction), expect.objectContaining(byGateway)]));
  });

  test('finds a request that no function has seen, by the id of its answer', async () => {
    const line = { 'cs-uri-stem': '/api/v1//files', 'sc-status': '404', 'c-ip': '127.0.0.1' };
    await expect.poll(() => run(asked['request at the edge'])).toEqual([expect.objectContaining(line)]);
  });

  test('sees in the logs which requests the gateway has refused', async () => {
    const [group = ''] = service.logGroups.names.filter((name) => name.endsWith('-gateway'));
    const lines = service.logGroups.between(group, 0, Date.now() + 1_000);
    expect(lines.map(({ message }) => JSON.parse(message))).toContainEqual(
      expect.objectContaining({ gateway_response: 'INVALID_API_KEY' }),
    );
  });

  test.each([
    ['uploadStream', '198.51.100.1'],
    ['getFile', '198.51.100.2'],
  ])(
    'finds an address in a line of any shape of the function %s, and no address that contains it',
    async (fn, address) => {
      const line = (text: string) => ({ level: 'info', message: 'request', client_address: text });
      /** Lambda may wrap a line of a Web Function as a text or as an object. */
      const shapesOf = (text: string) => [
        JSON.stringify(line(text)),
        JSON.stringify({ type: 'app', level: 'INFO', message: JSON.stringify(line(text)) }),
        JSON.stringify({ type: 'app', level: 'INFO', message: line(text) }),
      ];
      const [group = ''] = (await groupsOf('by-client-address')).filter((name) => name.endsWith(`-${fn}`));
      for (const other of [`${address}0`, `1${address}`, `${address}:${address}`]) {
        for (const message of shapesOf(other)) service.logGroups.append(group, message);
      }
      expect(await run(address)).toEqual([]);
      for (const message of shapesOf(address)) service.logGroups.append(group, message);
      const found = { '@timestamp': expect.any(String), message: 'request', client_address: address };
      expect(await run(address)).toEqual([found, found, found]);
    },
  );

  test('sees the latest 200 lines, and that there are more', async () => {
    const address = '198.51.100.3';
    const append = (ms: number) =>
      service.logGroups.append(
        auditLog(),
        JSON.stringify({ level: 'info', message: 'request', client_address: address, ms }),
      );
    const shown = async () => {
      const { requests, is_cut } = await adminProcessJson(service, 'requests', address);
      const rows = requests as Row[];
      return [rows.length, rows[0]?.ms, rows.at(-1)?.ms, is_cut];
    };
    for (let line = 1; line <= 200; line += 1) append(line);
    expect(await shown()).toEqual([200, '200', '1', false]);
    append(201);
    expect(await shown()).toEqual([200, '201', '2', true]);
  });

  test.each(['account', 'key prefix', 'address'])(
    'finds no line of a client that sent the searched %s only in its user agent',
    async (what) => {
      const value = String(asked[what]);
      const [requests, events] = [await run(value), await trail()];
      const forged = { account_id: value, key_prefix: value, client_address: value };
      const mine = { account_id: crypto.randomUUID(), key_prefix: 'svc_test_zz_', client_address: '203.0.113.9' };
      for (const message of ['audit', 'request']) {
        const sent = { level: 'info', message, code: 'x', ...mine, user_agent: JSON.stringify(forged) };
        service.logGroups.append(auditLog(), JSON.stringify(sent));
      }
      expect([await run(value), await trail()]).toEqual([requests, events]);
    },
  );
});

describe('the audit trail', () => {
  test('has each login, logout, key and session of an account, with client and time', async () => {
    const rows = await trail();
    const events = rows.map(({ event, outcome }) => (outcome === undefined ? event : `${event} ${outcome}`)).reverse();
    expect(events).toEqual([
      'login',
      'api_key_created',
      'api_key_created',
      'api_key_revoked',
      'login',
      'logout',
      'login',
      'session_ended',
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
    for (const end of ['logout', 'session_ended']) expect(sessions('login')).toContain(sessions(end)[0]);
    expect(rows.find(({ event }) => event === 'file_taken_down')).toMatchObject({
      operator: expect.stringMatching(/^arn:aws:sts::\d{12}:assumed-role\/operator\//),
      file_id: expect.any(String),
    });
  });

  test('has a refused login, with its reason, which is no request of the key that its user agent names', async () => {
    const before = await run(asked['key prefix']);
    const at = Date.now();
    await fetch(`${service.urls.base_url}/auth/google/callback?state=a&code=b`, {
      redirect: 'manual',
      headers: { 'user-agent': `x key_prefix":"${asked['key prefix']}"` },
    });
    const group = auditLog();
    const refused = () =>
      service.logGroups.between(group, at, Date.now()).filter(({ message }) => message.includes('login_refused'));
    const line = { message: 'audit', event: 'login_refused', code: 'expired', client_address: '127.0.0.1' };
    await expect
      .poll(() => refused().map(({ message }) => JSON.parse(message)))
      .toEqual([expect.objectContaining(line)]);
    expect(await run(asked['key prefix'])).toEqual(before);
  });

  test('no log but that of downloads has a secret, an e-mail address, a file name or the name of a key', () => {
    const groups = service.logGroups.names.filter((group) => !group.includes('-Downloads'));
    const lines = groups.flatMap((group) => service.logGroups.between(group, 0, Date.now() + 1_000));
    expect(lines.length).toBeGreaterThan(20);
    expect(secrets.every((secret) => secret.length > 10)).toBe(true);
    expect(lines.filter(({ message }) => secrets.some((secret) => message.includes(secret)))).toEqual([]);
  });
});
