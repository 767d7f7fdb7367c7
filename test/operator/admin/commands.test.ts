import { PassThrough } from 'node:stream';
import { deflateRawSync } from 'node:zlib';
import { PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { logIn } from '../../../local-aws/identity-provider/log-in.ts';
import type { Fault } from '../../../local-aws/service.ts';
import { main } from '../../../operator/admin/main.ts';
import { DELETED_BYTES_KEPT_DAYS } from '../../../shared/contract/limits.ts';
import { LANES } from '../../../shared/metrics.ts';
import { type AdminOutcome, adminProcess, adminProcessJson, startAdmin } from '../../support/admin.ts';
import { readBooks } from '../../support/books.ts';
import { client } from '../../support/client.ts';
import { askForTicket, complete, uploadThrough } from '../../support/lanes.ts';
import { keepFromMidnight } from '../../support/midnight.ts';
import { type Operator, operatorOf } from '../../support/operator.ts';
import { startTestService, type TestAccount, type TestService } from '../../support/service.ts';
import { withFault } from '../../support/with-fault.ts';

/**
 * Runs the operator's commands and checks their effects over HTTP. Most commands run in this process, because a start of Node takes longer
 * than a command. `reconcile` runs as a process of its own, because it also writes log lines. The command that a test kills, and its
 * repetition, are processes of their own, too.
 */

let service: TestService;
let operator: Operator;
let other: TestAccount;

beforeAll(async () => {
  service = await startTestService();
  operator = operatorOf(service);
  process.env.DATA_DIR = service.dataDir;
  other = await service.newAccount();
  await other.byKey.upload('theirs.txt', 'theirs');
});
afterAll(async () => {
  operator.close();
  await service.close();
});

/** Runs `npm run admin -- --local …` in this process, without a terminal. */
async function admin(...args: string[]): Promise<AdminOutcome> {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
  const code = await main(['--local', ...args], streams);
  const read = (stream: PassThrough) => String(stream.read() ?? '');
  return { code, stdout: read(streams.stdout), stderr: read(streams.stderr) };
}

/** Like {@link admin}, with `--json`. @returns the parsed output. */
async function adminJson(...args: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await admin('--json', ...args);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

/** The status of a request with the account's key, and of one with its session. */
async function statuses({ byKey, bySession }: TestAccount): Promise<number[]> {
  const answers = await Promise.all([byKey.request('GET', '/files'), bySession.request('GET', '/auth/me')]);
  return answers.map(({ status }) => status);
}

/** The operators' commands on an account, oldest first, from the audit trail. */
async function operatorsTrail({ id }: TestAccount): Promise<unknown[]> {
  const { events } = (await adminJson('audit', id)) as { events: Record<string, string>[] };
  const byOperators = events.filter(({ operator }) => operator !== undefined).reverse();
  for (const { operator } of byOperators) expect(operator).toMatch(/^arn:aws:sts::\d{12}:assumed-role\/operator\//);
  return byOperators.map(({ event, outcome }) => `${event} ${outcome}`);
}

const me = async ({ bySession }: TestAccount) => (await bySession.request('GET', '/auth/me')).body;

async function expectOtherUntouched(): Promise<void> {
  expect(await statuses(other)).toEqual([200, 200]);
  expect((await other.byKey.request('GET', '/files')).body).toMatchObject({ total: 1 });
}

describe('show', () => {
  test('prints everything about an account, by its id, or by its e-mail address in upper or lower case', async () => {
    await keepFromMidnight(60_000);
    const account = await service.newAccount();
    await account.byKey.upload('a.txt', 'hello');
    const { items } = (await account.bySession.request('GET', '/api-keys')).body;
    const shown = await adminJson('show', account.email.toUpperCase());
    expect(shown).toMatchObject({
      id: account.id,
      email: account.email,
      suspended: false,
      storage_used_bytes: 5,
      storage_limit_bytes: 2_147_483_648,
      storage_limit_is_default: true,
      file_count: 1,
      sent_today_bytes: 5,
      live_sessions: 1,
      api_keys: items,
    });
    const { stdout } = await admin('show', account.id);
    expect(stdout).toContain(`account   ${account.id}\n`);
    expect(stdout).toContain('storage   5 bytes of 2,147,483,648 bytes (the default)\n');
    expect(stdout).toContain('sent      5 bytes today (UTC)\n');
    expect(stdout).toContain(`  ${account.key.slice(0, 12)}…  created `);
    expect(stdout).not.toContain(account.key);
  });

  test('prints the latest uploads, and why requests of the account were refused', async () => {
    const account = await service.newAccount();
    const { body: stored } = await account.byKey.upload('a.txt', 'hello');
    const { body: direct } = await uploadThrough('direct', account, 'direct.bin', 'hello');
    const { body: deleted } = await uploadThrough('direct', account, 'deleted.bin', 'hello');
    expect((await account.byKey.request('DELETE', `/files/${deleted.id}`)).status).toBe(200);
    const { body: ticket } = await askForTicket(account.byKey, 'big.bin', 100);
    expect((await account.byKey.request('GET', `/files/${deleted.id}`)).status).toBe(404);
    for (let time = 0; time < 2; time += 1) expect((await complete(account.byKey, ticket)).status).toBe(409);
    const { headers } = await complete(account.byKey, ticket);
    const shown = () => adminJson('show', account.id);
    await expect
      .poll(async () => (await shown()).refusals)
      .toMatchObject([
        {
          route: 'completeUpload',
          code: 'upload_incomplete',
          refusals: '3',
          request_id: headers.get('x-request-id'),
        },
        { route: 'getFile', code: 'not_found', refusals: '1' },
      ]);
    expect(await shown()).toMatchObject({
      uploads: [
        { id: ticket.id, state: 'pending', via: 'ticket', size_bytes: 100, ticket_ends_at: expect.any(String) },
        { id: deleted.id, state: 'deleted', via: 'ticket', name: 'deleted.bin' },
        { id: direct.id, state: 'ready', via: 'ticket', size_bytes: 5 },
        { id: stored.id, state: 'ready', via: 'form', size_bytes: 5, ticket_ends_at: null },
      ],
      sessions: [{ last_used_at: expect.any(String) }],
    });
    const { stdout } = await admin('show', account.id);
    expect(stdout).toContain('upload_incomplete');
    expect(stdout).toContain(String(ticket.id));
  });

  test('replaces control characters in what it prints', async () => {
    const id = crypto.randomUUID();
    const [zero, words] = [{ N: '0' }, { S: '\u001b[2J\nstate open\u202e' }];
    const files = { file_count: zero, next_seq: zero, last_file_at: zero, removed: { M: {} } };
    const books = { created_at: zero, storage_used_bytes: zero, ...files };
    const Item = { id: { S: id }, email: { S: 'odd@example.com' }, name: words, ...books };
    await operator.dynamoDb.send(new PutItemCommand({ TableName: service.tables.accounts, Item }));
    const { stdout } = await admin('show', id);
    expect(stdout).toContain('name      �[2J�state open�\n');
  });

  test.each(['nobody@example.com', '0190b0a0-0000-7000-8000-000000000000', 'somebody'])(
    'says that there is no account %s',
    async (name) => {
      const stderr = `There is no account ${name}.\n`;
      expect(await admin('show', name)).toEqual({ code: 1, stdout: '', stderr });
    },
  );

  test('requires an id when two accounts have the same address', async () => {
    const email = 'shared@example.com';
    for (const id of ['a', 'b']) {
      const Item = { id: { S: id }, email: { S: email } };
      await operator.dynamoDb.send(new PutItemCommand({ TableName: service.tables.accounts, Item }));
    }
    const { code, stderr } = await admin('show', email);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/name one by its id: (a, b|b, a)\.\n$/)]);
  });
});

describe('requests', () => {
  test('finds a refused request by account, prefix of the key, request id, file id or address, and none later than --until', async () => {
    const account = await service.newAccount();
    const { body: ticket } = await askForTicket(account.byKey, 'big.bin', 100);
    const { headers } = await account.byKey.request('POST', `/uploads/${ticket.id}/complete`);
    const id = String(headers.get('x-request-id'));
    const found = async (...args: string[]) => (await adminJson('requests', ...args)).requests;
    const refused = expect.objectContaining({ code: 'upload_incomplete', request_id: id });
    await expect.poll(() => found(account.email)).toContainEqual(refused);
    for (const what of [account.key, account.key.slice(0, 12), id, String(ticket.id), account.id, '127.0.0.1']) {
      expect(await found(what), what).toContainEqual(refused);
    }
    const [from, to] = [-3_600_000, 3_600_000].map((ms) => new Date(Date.now() + ms).toISOString().slice(0, 16));
    expect(await found(id, '--until', String(from))).toEqual([]);
    expect(await found(id, '--until', String(to), '--hours', '2')).toContainEqual(refused);
    // Logs Insights adds this field to every row.
    for (const format of [[], ['--json']])
      expect((await admin(...format, 'requests', id)).stdout).not.toContain('@ptr');
  });

  test.each(['-', '--'])('takes a request id that begins with %j', async (dashes) => {
    const id = dashes + 'a'.repeat(54);
    for (const args of [[id], ['--', id], [id, '--until', '2026-11-20T03:30']]) {
      expect(await adminJson('requests', ...args)).toMatchObject({ requests: [] });
    }
    const { code, stderr } = await admin('show', id);
    expect([code, stderr]).toEqual([1, expect.stringContaining(id)]);
  });

  test('finds the requests of a key, the account and the files by the prefix of the key', async () => {
    const account = await service.newAccount();
    const { body: file } = await account.byKey.upload('a.txt', 'hello');
    const found = async () => (await adminJson('requests', account.key.slice(0, 12))).requests;
    const uploaded = { route: 'uploadFile', status: '201', account_id: account.id, resource_id: file.id };
    await expect.poll(found).toContainEqual(expect.objectContaining(uploaded));
  });

  test('shows the numbers that explain a refusal, and the outcome of a direct upload whose bytes arrived', async () => {
    const account = await service.newAccount();
    await askForTicket(account.byKey, 'huge.bin', 200_000_000);
    const { body: file } = await uploadThrough('direct', account, 'direct.bin', 'hello');
    const found = async (what: string) => (await adminJson('requests', what)).requests;
    const arrived = { message: 'upload arrived', outcome: expect.any(String), account_id: account.id };
    await expect.poll(() => found(String(file.id))).toContainEqual(expect.objectContaining(arrived));
    const refused = { code: 'file_too_large', bytes: '200000000', limit_bytes: '104857600' };
    expect(await found(account.email)).toContainEqual(expect.objectContaining(refused));
    expect(await found(account.id)).toEqual(await found(account.email));
  });
});

test('suspend rejects the account from the next request on, and restore makes its keys valid again, but not its sessions', async () => {
  const account = await service.newAccount();
  const { body } = await account.byKey.upload('a.txt', 'hello');
  expect(await adminJson('suspend', account.email)).toEqual({
    id: account.id,
    suspended: true,
    keys: 1,
    sessions: 1,
  });
  expect(await statuses(account)).toEqual([401, 401]);
  const login = { startUrl: `${service.urls.base_url}/auth/google`, email: account.email };
  const before = service.logs.length;
  expect((await logIn(login)).location).toMatch(/\/dashboard\/login\?error=not_allowed$/);
  const refused = () => service.logs.slice(before).filter((line) => line.includes('"login refused"'));
  await expect.poll(refused).toEqual([expect.stringContaining('"detail":"the account is suspended"')]);
  expect(refused().join()).not.toContain('"stack"');
  expect((await fetch(String(body.url))).status).toBe(200);
  expect(await adminJson('show', account.id)).toMatchObject({ suspended: true });
  await expectOtherUntouched();
  const { stdout } = await admin('restore', account.email);
  expect(stdout).toBe(
    `${account.email} (${account.id}) is restored: 1 key accepted again. Its sessions stay ended: the owner has to log in again.\n`,
  );
  expect(await statuses(account)).toEqual([200, 401]);
  expect((await logIn(login)).location).toMatch(/\/dashboard$/);
  const events = ['account_suspended', 'account_restored'];
  expect(await operatorsTrail(account)).toEqual(events.flatMap((event) => [`${event} begun`, `${event} done`]));
});

test('a command changes nothing when the audit trail cannot be written', async () => {
  const account = await service.newAccount();
  const refused = { match: { operation: 'PutLogEvents' }, effect: 'error-before' } as const;
  const { code, stderr } = await withFault(service, refused, () => admin('suspend', account.email));
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('The audit trail cannot be written, so nothing was done'),
  ]);
  expect(await statuses(account)).toEqual([200, 200]);
  expect(await operatorsTrail(account)).toEqual([]);
});

describe('when the end of a command cannot be written to the audit trail', () => {
  const endOfTrail = {
    match: { operation: 'PutLogEvents', predicate: ({ input }) => !JSON.stringify(input).includes('begun') },
    effect: 'error-before',
  } as const satisfies Fault;

  test('the command does its work, and prints the missing line', async () => {
    const account = await service.newAccount();
    const { code, stdout, stderr } = await withFault(service, endOfTrail, () => admin('suspend', account.email));
    expect([code, stdout]).toEqual([0, expect.stringContaining('is suspended')]);
    expect(stderr).toMatch(
      /^account_suspended is done, but this could not be written to the audit trail \(\w+: .+\)\. Keep this line/,
    );
    expect(JSON.parse(stderr.slice(stderr.indexOf('{')))).toEqual({
      time: expect.stringMatching(/^\d{4}-.+Z$/),
      level: 'info',
      message: 'audit',
      event: 'account_suspended',
      outcome: 'done',
      account_id: account.id,
      operator: expect.stringMatching(/^arn:aws:sts::/),
      host: expect.any(String),
    });
    expect(await statuses(account)).toEqual([401, 401]);
    expect(await operatorsTrail(account)).toEqual(['account_suspended begun']);
  });

  test('a command that fails prints both failures', async () => {
    const account = await service.newAccount();
    const broken = { match: { table: service.tables.accounts, operation: 'TransactWriteItems' } } as const;
    const { code, stderr } = await withFault(service, endOfTrail, () =>
      withFault(service, { ...broken, effect: 'error-before' }, () => admin('set-limit', account.email, '15')),
    );
    expect(code).toBe(1);
    const [first, second] = stderr.split('\n');
    expect(first).toMatch(
      /^storage_limit_changed failed, and may be done in part, but this could not be written to the/,
    );
    expect(first).toContain(`"outcome":"failed","account_id":"${account.id}"`);
    expect(second).toMatch(/^AWS cannot be reached/);
  });
});

test('end-sessions logs out every browser from the next request on, and keeps the keys', async () => {
  const account = await service.newAccount();
  const { cookie } = await service.newAccount(account.email);
  const second = client(service.urls.base_url, { cookie });
  expect(await adminJson('end-sessions', account.email)).toEqual({ id: account.id, sessions: 2 });
  expect(await statuses(account)).toEqual([200, 401]);
  expect((await second.request('GET', '/auth/me')).status).toBe(401);
  expect((await service.newAccount(account.email)).id).toBe(account.id);
  await expectOtherUntouched();
  const { stdout } = await admin('end-sessions', account.id);
  expect(stdout).toBe(`1 session of ${account.email} (${account.id}) ended.\n`);
});

describe('set-limit', () => {
  test('applies in every lane and in the profile, until it is reset to the default', async () => {
    const account = await service.newAccount();
    const { body: before } = await account.bySession.request('GET', '/auth/me');
    await adminJson('set-limit', account.email, '15');
    for (const lane of LANES) {
      expect((await uploadThrough(lane, account, lane, '12345')).status).toBe(201);
    }
    for (const lane of LANES) {
      const { status, body } = await uploadThrough(lane, account, lane, '1');
      expect([lane, status, body]).toEqual([lane, 403, { error: 'storage_limit_exceeded' }]);
    }
    expect(await me(account)).toMatchObject({ storage_limit_bytes: 15, storage_used_bytes: 15 });
    const { stdout: trail } = await admin('audit', account.id);
    expect(trail).toMatch(/event=storage_limit_changed outcome=done .*limit_bytes=15 /);
    expect(await adminJson('set-limit', account.id, 'default')).toMatchObject({
      storage_limit_bytes: before.storage_limit_bytes,
      storage_limit_is_default: true,
    });
    expect(await me(account)).toMatchObject({ storage_limit_bytes: before.storage_limit_bytes });
    expect((await account.byKey.upload('a', '1')).status).toBe(201);
    await expectOtherUntouched();
  });

  test.each(['-1', '1.5', '5GB', '', '9007199254740992', 'none'])('rejects the value %j', async (value) => {
    const { code, stderr } = await admin('set-limit', '--', other.email, value);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^A limit is a whole number of bytes from 0 to /)]);
    expect(await me(other)).toMatchObject({ storage_limit_bytes: 2_147_483_648 });
  });
});

describe('take-down', () => {
  test.each(LANES)(
    'deletes the file behind a link, uploaded through the %s lane, and prints its owner',
    async (lane) => {
      const account = await service.newAccount();
      const { body: file } = await uploadThrough(lane, account, 'a b.txt', 'hello');
      await account.byKey.upload('kept.txt', 'kept');
      const [, , token] = new URL(String(file.url)).pathname.split('/');
      expect(await adminJson('take-down', String(file.url), '--yes')).toEqual({
        deleted: true,
        file: { id: file.id, name: 'a b.txt', object_key: `uploads/${token}` },
        account: { id: account.id, email: account.email },
      });
      expect((await fetch(String(file.url))).status).toBe(404);
      expect((await account.byKey.request('GET', `/files/${file.id}`)).status).toBe(404);
      expect(await me(account)).toMatchObject({ storage_used_bytes: 4, file_count: 1 });
      const again = await admin('take-down', String(file.url), '--yes');
      expect(again).toEqual({ code: 1, stdout: '', stderr: 'There is no file behind this link (any more).\n' });
      await expectOtherUntouched();
    },
  );

  test('prints how long the bytes are kept, and under which key', async () => {
    const { body: file } = await (await service.newAccount()).byKey.upload('a.txt', 'hello');
    const { stdout } = await admin('take-down', String(file.url), '--yes');
    const [, key] = /(uploads\/\w+)\//.exec(String(file.url)) ?? [];
    expect(stdout).toContain(`On AWS its bytes are kept for ${DELETED_BYTES_KEPT_DAYS} days, as versions of ${key}.\n`);
  });

  test('does not delete the file when there is neither --yes nor a terminal', async () => {
    const { body: file } = await (await service.newAccount()).byKey.upload('a.txt', 'hello');
    const { code, stderr } = await admin('take-down', String(file.url));
    expect([code, stderr]).toEqual([2, expect.stringMatching(/add --yes\.\n$/)]);
    expect((await fetch(String(file.url))).status).toBe(200);
  });

  test.each([
    ['a link to another host', () => 'https://example.com/uploads/abc/a.txt'],
    ['a link to the API', () => `${service.urls.root_url}/uploads/abc/a.txt`],
    ['a link to another path', () => `${service.urls.cdn_url}/incoming/abc/a.txt`],
    ['a text that is no address', () => 'a.txt'],
  ])('rejects %s', async (_, link) => {
    const { code, stderr } = await admin('take-down', link(), '--yes');
    const sentence = `This is not a link of this service: those begin with ${service.urls.cdn_url}/uploads/.\n`;
    expect([code, stderr]).toEqual([1, sentence]);
  });
});

describe('delete-account', () => {
  /** Creates an account with a file from each lane, and a pending ticket. */
  async function accountWithFiles(): Promise<TestAccount> {
    const account = await service.newAccount();
    for (const lane of LANES) await uploadThrough(lane, account, lane, lane);
    await account.byKey.postJson('/uploads', { name: 'a', mime_type: 'text/plain', size_bytes: 5 });
    return account;
  }

  async function expectGone(account: TestAccount): Promise<void> {
    expect(await statuses(account)).toEqual([401, 401]);
    const { stderr } = await admin('show', account.id);
    expect(stderr).toBe(`There is no account ${account.id}.\n`);
    await operator.expireDeadlines();
    await operator.sweep();
    expect(await service.rowsOf(account.id)).toEqual([]);
    expect(await service.storedBytes(account.id)).toBe(0);
    await expectOtherUntouched();
  }

  test('deletes everything the account owns, and a later login creates a new, empty account', async () => {
    const account = await accountWithFiles();
    const { items } = (await account.byKey.request<{ items: { url: string }[] }>('GET', '/files')).body;
    const outcome = await adminJson('delete-account', account.email, '--yes');
    expect(outcome).toEqual({ id: account.id, deleted: true, files: 3, left_to_sweeper: 2 });
    expect(await operatorsTrail(account)).toEqual(['account_deleted begun', 'account_deleted done']);
    for (const { url } of items) expect((await fetch(url)).status).toBe(404);
    await expectGone(account);
    const again = await service.newAccount(account.email);
    expect(await me(again)).toMatchObject({ id: account.id, storage_used_bytes: 0, file_count: 0 });
    expect((await again.byKey.upload('a', 'a')).status).toBe(201);
  });

  test('does not delete the account when there is neither --yes nor a terminal', async () => {
    const account = await service.newAccount();
    const { code, stderr } = await admin('delete-account', account.email);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/add --yes\.\n$/)]);
    expect(await statuses(account)).toEqual([200, 200]);
  });

  // This test kills one deletion at one call. test/shared/administration/delete-account.test.ts tries every call, and other failures.
  test('finishes when it is run again after it was killed', async () => {
    const account = await accountWithFiles();
    await killAtCall(12, ['delete-account', account.email, '--yes']);
    const restored = await admin('restore', account.email);
    expect(restored.stderr).toBe('The deletion of this account has begun, and cannot be taken back.\n');
    expect((await adminProcess(service, 'delete-account', account.email, '--yes')).code).toBe(0);
    await expectGone(account);
  });

  /** Runs a command until its nth call to AWS, which gets no answer, and kills the command there. */
  async function killAtCall(nth: number, args: string[]): Promise<void> {
    const { promise: nthCall, resolve: onNthCall } = Promise.withResolvers<void>();
    let calls = 0;
    const predicate = () => {
      calls++;
      if (calls === nth) onNthCall();
      return calls >= nth;
    };
    const fault = service.front.faults.add({ match: { principal: 'operator', predicate }, effect: 'timeout' });
    const { child, outcome } = startAdmin(['--local', ...args], { DATA_DIR: service.dataDir });
    await Promise.race([
      nthCall,
      outcome.then(({ stderr }) => Promise.reject(new Error(`the command ended before that call: ${stderr}`))),
    ]);
    child.kill('SIGKILL');
    expect((await outcome).code).toBeNull();
    fault.remove();
  }
});

describe('reconcile', () => {
  const writeWrongUsage = (account: TestAccount) =>
    operator.dynamoDb.send(
      new UpdateItemCommand({
        TableName: service.tables.accounts,
        Key: { id: { S: account.id } },
        UpdateExpression: 'SET storage_used_bytes = :wrong',
        ExpressionAttributeValues: { ':wrong': { N: '99' } },
      }),
    );

  test('finds wrong usage and corrects it, but with --dry-run only reports it', async () => {
    const account = await service.newAccount();
    await account.byKey.upload('a.txt', 'hello');
    await writeWrongUsage(account);
    const dry = await adminProcess(service, 'reconcile', account.email, '--dry-run');
    expect(dry).toMatchObject({
      code: 1,
      stdout: [
        `${account.id} (not corrected)`,
        '  storage used: the books say 99, the files 5',
        '1 account compared, 1 with differences.',
        '',
      ].join('\n'),
    });
    expect((await admin('reconcile', account.email)).code).toBe(2);
    expect(await me(account)).toMatchObject({ storage_used_bytes: 99 });
    expect(await adminProcessJson(service, 'reconcile', account.email, '--yes')).toEqual({
      accounts: 1,
      differing: [
        { id: account.id, repaired: true, differences: [{ what: 'storage used', recorded: 99, computed: 5 }] },
      ],
    });
    expect(await me(account)).toMatchObject({ storage_used_bytes: 5 });
    const { code, stdout } = await adminProcess(service, 'reconcile', account.id, '--dry-run');
    expect([code, stdout]).toEqual([0, '1 account compared, 0 with differences.\n']);
  });

  test('counts the seals that another version of Unicode folded, and removes them', async () => {
    const account = await service.newAccount();
    for (const leaf of [0, 1]) {
      const key = { account_id: { S: account.id }, id: { S: `#names#0000000000${leaf}` } };
      const Item = { ...key, folded: { B: deflateRawSync('/'.repeat(63)) }, unicode: { S: '1.1' } };
      await operator.dynamoDb.send(new PutItemCommand({ TableName: service.tables.files, Item }));
    }
    const counted = '  names for searches were folded by another version of Unicode in 2 seals';
    for (const [option, outcome] of [
      ['--dry-run', `${account.id} (not corrected)\n${counted}`],
      ['--yes', `${account.id} (corrected)\n${counted}`],
      ['--dry-run', '1 account compared, 0 with differences.'],
    ] as const) {
      const { stdout } = await adminProcess(service, 'reconcile', account.id, option);
      expect(stdout).toContain(outcome);
    }
  });
});

test('open-canary gives the canary a key, and revokes the previous one', async () => {
  const runCanary = async () => (await service.invoke('CanaryFunction', { time: '2026-01-01T00:30:00Z' })).payload;
  const start = service.logs.length;
  expect(await runCanary()).toBe('[]');
  // Without a key the canary writes no metric, so the alarm on the canary starts.
  await expect.poll(() => service.logs.slice(start).join()).toContain('the canary has no key');
  expect(service.logs.slice(start).join()).not.toContain('CanaryFailures');
  const first = await adminJson('open-canary');
  expect(first).toMatchObject({ key_prefix: expect.stringMatching(/^svc_test_/), revoked: 0 });
  const again = await adminJson('open-canary');
  expect(again).toMatchObject({ id: first.id, revoked: 1 });
  const from = service.logs.length;
  expect(await runCanary()).toBe('[]');
  await expect.poll(() => service.logs.slice(from).join()).toContain('"CanaryFailures":0');
  expect(await adminJson('show', 'canary')).toMatchObject({
    id: first.id,
    file_count: 0,
    storage_used_bytes: 0,
    api_keys: [{ key_prefix: again.key_prefix, last_used_at: expect.any(String) }],
  });
});

test('the books of all accounts balance after these commands', async () => {
  await operator.expireDeadlines();
  await operator.sweep();
  const { problems, unfinished } = await readBooks(operator);
  expect({ problems, unfinished }).toEqual({ problems: [], unfinished: [] });
});
