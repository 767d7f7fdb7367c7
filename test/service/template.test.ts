import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askForTicket, complete, put, uploadStreaming } from '../support/lanes.ts';
import { startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { removeGrant, removeResource, removeVariable, type Templates } from '../support/template-edits.ts';

/** Whoever forgets something in the stack learns of it here: the same request fails as soon as one thing is taken out. */
interface Cut {
  readonly what: string;
  readonly edit: (templates: Templates) => void;
  /** What is seen from outside, with all its preparations. */
  readonly see: (service: TestService, account: TestAccount) => Promise<unknown>;
  readonly whole: unknown;
  readonly cut: unknown;
  /** A line of the log that says what is missing. */
  readonly log?: RegExp;
}

const INTERNAL = [500, { error: 'internal_error' }];
const UNAVAILABLE = [503, { error: 'service_unavailable' }];

type Ask = (account: TestAccount) => Promise<{ status: number; body: Record<string, unknown> }>;

/** A request that is answered with `status` until one grant is missing. */
function grant(role: string, action: string, on: string, status: number, ask: Ask): Cut {
  return {
    what: `${action} on ${on} of ${role}`,
    edit: (templates) => removeGrant(templates, role, action, on),
    async see(_service, account) {
      const answer = await ask(account);
      return answer.status < 400 ? answer.status : [answer.status, answer.body];
    },
    whole: status,
    cut: INTERNAL,
    log: new RegExp(`^\\S*${role}\\S* AccessDenied: ${action} on \\S*${on}`, 'm'),
  };
}

const uploaded = async ({ byKey }: TestAccount) => String((await byKey.upload('a.txt', 'a')).body.id);

/** Cuts that do not stand in each other's way: of one service each list. */
const CUTS: readonly (readonly Cut[])[] = [
  [
    grant('ListFilesRole', 'dynamodb:Query', 'FilesTable', 200, async (account) => {
      await uploaded(account);
      return account.byKey.request('GET', '/files');
    }),
    grant('GetFileRole', 'dynamodb:GetItem', 'FilesTable', 200, async (account) =>
      account.byKey.request('GET', `/files/${await uploaded(account)}`),
    ),
    grant('DeleteFileRole', 'dynamodb:UpdateItem', 'AccountsTable', 200, async (account) =>
      account.byKey.request('DELETE', `/files/${await uploaded(account)}`),
    ),
    grant('CompleteUploadRole', 's3:GetObject', 'incoming/', 201, async ({ byKey }) => {
      const { body: ticket } = await askForTicket(byKey, 'a', 1);
      expect(await put(ticket, 'a')).toBe(200);
      return complete(byKey, ticket);
    }),
    grant('LogoutRole', 'dynamodb:DeleteItem', 'SessionsTable', 200, ({ bySession }) =>
      bySession.request('POST', '/auth/logout'),
    ),
    // The streaming server's stack has one role alone.
    grant('Role', 's3:PutObject', 'uploads/', 201, (account) => uploadStreaming(account, 'a', 'a')),
    {
      what: 'the rule of the S3 event',
      edit(templates) {
        removeResource(templates, 'AWS::Lambda::Permission', 'UploadArrived');
        removeResource(templates, 'AWS::Events::Rule', 'UploadArrived');
      },
      async see(service, { id, byKey }) {
        const { body: ticket } = await askForTicket(byKey, 'a', 1);
        await put(ticket, 'a');
        await service.invoker.idle();
        return (await service.rowsOf(id)).map(({ state }) => state);
      },
      whole: [{ S: 'ready' }],
      cut: [{ S: 'pending' }],
    },
    {
      what: 'the permission of the schedule',
      edit: (templates) => removeResource(templates, 'AWS::Lambda::Permission', 'EveryMinute'),
      async see(service) {
        await service.runSchedules();
        return service.invoker.failed.map(({ failure }) => failure);
      },
      whole: [],
      cut: [expect.stringMatching(/^AccessDenied: events.amazonaws.com may not invoke \S*SweepFunction/)],
    },
  ],
  [
    grant('UploadFileRole', 'dynamodb:PutItem', 'FilesTable', 201, ({ byKey }) => byKey.upload('a', 'a')),
    {
      what: 'CDN_URL of GetFileFunction',
      edit: (templates) => removeVariable(templates, 'GetFileFunction', 'CDN_URL'),
      async see(_service, account) {
        const { body } = await uploadStreaming(account, 'a', 'a');
        const answer = await account.byKey.request('GET', `/files/${body.id}`);
        return [answer.status, answer.body];
      },
      whole: [200, expect.objectContaining({ name: 'a' })],
      cut: UNAVAILABLE,
      log: /^GetFileFunction .*environment variable CDN_URL is not set/m,
    },
    {
      what: 'the route of deleting a file',
      edit: (templates) => removeResource(templates, 'AWS::ApiGateway::Method', 'Apiapiv1filesidDELETE'),
      async see(_service, account) {
        const { body } = await uploadStreaming(account, 'a', 'a');
        const answer = await account.byKey.request('DELETE', `/files/${body.id}`);
        return [answer.status, answer.body];
      },
      whole: [200, expect.objectContaining({ deleted: true })],
      // What is left of the path is its catch-all.
      cut: [405, { error: 'method_not_allowed' }],
    },
    {
      what: 'the permission of the gateway to invoke ListApiKeysFunction',
      edit: (templates) =>
        removeResource(templates, 'AWS::Lambda::Permission', 'ApiApiPermissionApiScopedFileHostingdevApiListApiKeys'),
      async see(_service, { bySession }) {
        const answer = await bySession.request('GET', '/api-keys');
        return [answer.status, answer.body];
      },
      whole: [200, { items: [expect.objectContaining({ name: 'test' })] }],
      cut: UNAVAILABLE,
      log: /^gateway .*apigateway.amazonaws.com may not invoke \S*ListApiKeysFunction/m,
    },
  ],
];

let whole: TestService;
beforeAll(async () => {
  whole = await startTestService();
});
afterAll(() => whole.close());

describe.for(CUTS)('a request that works', (cuts) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(
      {},
      {
        mayLackGrants: true,
        edit: (templates) => {
          for (const { edit } of cuts) edit(templates);
        },
      },
    );
  });
  afterAll(() => service.close());

  test.for(cuts)('fails without $what', async ({ see, whole: works, cut, log = /(?:)/ }) => {
    const [before, after] = [await whole.newAccount(), await service.newAccount()];
    expect(await see(whole, before)).toEqual(works);
    expect(await see(service, after)).toEqual(cut);
    expect(service.logs.join('\n')).toMatch(log);
  });
});

test('a service that was denied anything fails the tests when it is closed', async () => {
  const edit = (templates: Templates) => removeGrant(templates, 'HealthRole', 's3:ListBucket', 'Uploads');
  const service = await startTestService({}, { edit });
  expect((await fetch(`${service.urls.root_url}/health`)).status).toBe(503);
  await expect(service.close()).rejects.toThrow(/lacked a grant:\n\S*HealthRole\S* AccessDenied: s3:ListBucket on /);
});

test('a service with a fault that never applied fails the tests when it is closed', async () => {
  const service = await startTestService();
  service.front.faults.add({ match: { operation: 'NoSuchOperation' }, effect: 'throttle' });
  await expect(service.close()).rejects.toThrow(/'NoSuchOperation'.* applied to no call/);
});
