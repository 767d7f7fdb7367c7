import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askForTicket, complete, put, uploadStreaming } from '../support/lanes.ts';
import { borrowTestService, startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { removeGrant, removeResource, removeVariable, type Templates } from '../support/template-edits.ts';

/** A resource, variable or grant of the template. A request fails without it, which the tests prove by removing it. */
interface Removal {
  readonly what: string;
  readonly edit: (templates: Templates) => void;
  /** Makes the request. @returns what a client or operator observes. */
  readonly observe: (service: TestService, account: TestAccount) => Promise<unknown>;
  /** What `observe` returns with the unchanged template. */
  readonly complete: unknown;
  /** What `observe` returns after the removal. */
  readonly reduced: unknown;
  /** Matches the log line that names what is missing. */
  readonly log?: RegExp;
}

const INTERNAL = [500, { error: 'internal_error' }];
const UNAVAILABLE = [503, { error: 'service_unavailable' }];

type Ask = (account: TestAccount) => Promise<{ status: number; body: Record<string, unknown> }>;

/** Removes one grant. @param status  the request's status while the grant is there. */
function grant(role: string, action: string, on: string, status: number, ask: Ask): Removal {
  return {
    what: `${action} on ${on} of ${role}`,
    edit: (templates) => removeGrant(templates, role, action, on),
    async observe(_service, account) {
      const answer = await ask(account);
      return answer.status < 400 ? answer.status : [answer.status, answer.body];
    },
    complete: status,
    reduced: INTERNAL,
    log: new RegExp(`^\\S*${role}\\S* AccessDenied: ${action} on \\S*${on}`, 'm'),
  };
}

/** Lists of removals. The removals of a list do not affect each other, so one service can have all of them. */
const REMOVALS: readonly (readonly Removal[])[] = [
  [
    grant('ListFilesRole', 'dynamodb:Query', 'FilesTable', 200, async ({ byKey }) => {
      await byKey.upload('a.txt', 'a');
      return byKey.request('GET', '/files');
    }),
    grant('CompleteUploadRole', 's3:GetObject', 'incoming/', 201, async ({ byKey }) => {
      const { body: ticket } = await askForTicket(byKey, 'a', 1);
      expect(await put(ticket, 'a')).toBe(200);
      return complete(byKey, ticket);
    }),
    // The streaming server's stack has only this role.
    grant('Role', 's3:PutObject', 'uploads/', 201, (account) => uploadStreaming(account, 'a', 'a')),
    {
      what: 'the rule of the S3 event',
      edit(templates) {
        removeResource(templates, 'AWS::Lambda::Permission', 'UploadArrived');
        removeResource(templates, 'AWS::Events::Rule', 'UploadArrived');
      },
      async observe(service) {
        const { id, byKey } = await service.newAccount();
        const { body: ticket } = await askForTicket(byKey, 'a', 1);
        await put(ticket, 'a');
        await service.invoker.idle();
        return (await service.rowsOf(id)).map(({ state }) => state);
      },
      complete: [{ S: 'ready' }, { S: 'settled' }],
      reduced: [{ S: 'pending' }],
    },
    {
      what: 'the permission of the schedule',
      edit: (templates) => removeResource(templates, 'AWS::Lambda::Permission', 'EveryMinute'),
      async observe(service) {
        const before = service.invoker.failed.length;
        await service.runSchedules();
        return service.invoker.failed.slice(before).map(({ failure }) => failure);
      },
      complete: [],
      reduced: [expect.stringMatching(/^AccessDenied: events.amazonaws.com may not invoke \S*-sweep/)],
    },
  ],
  [
    {
      what: 'CDN_URL of GetFileFunction',
      edit: (templates) => removeVariable(templates, 'GetFileFunction', 'CDN_URL'),
      async observe(_service, account) {
        const { body } = await uploadStreaming(account, 'a', 'a');
        const answer = await account.byKey.request('GET', `/files/${body.id}`);
        return [answer.status, answer.body];
      },
      complete: [200, expect.objectContaining({ name: 'a' })],
      reduced: UNAVAILABLE,
      log: /^GetFileFunction .*environment variable CDN_URL is not set/m,
    },
    {
      what: 'ACCOUNTS_TABLE of GetMeFunction',
      edit: (templates) => removeVariable(templates, 'GetMeFunction', 'ACCOUNTS_TABLE'),
      async observe(_service, { bySession }) {
        return (await bySession.request('GET', '/auth/me')).status;
      },
      complete: 200,
      // The function fails when it loads, before a request needs the variable.
      reduced: 503,
      log: /^GetMeFunction .*environment variable ACCOUNTS_TABLE is not set/m,
    },
    {
      what: 'the route of deleting a file',
      edit: (templates) => removeResource(templates, 'AWS::ApiGateway::Method', 'Apiapiv1filesidDELETE'),
      async observe(_service, account) {
        const { body } = await uploadStreaming(account, 'a', 'a');
        const answer = await account.byKey.request('DELETE', `/files/${body.id}`);
        return [answer.status, answer.body];
      },
      complete: [200, expect.objectContaining({ deleted: true })],
      // The path's catch-all method answers instead.
      reduced: [405, { error: 'method_not_allowed' }],
    },
    {
      what: 'the permission of the gateway to invoke ListApiKeysFunction',
      edit: (templates) =>
        removeResource(templates, 'AWS::Lambda::Permission', 'ApiApiPermissionApiScopedFileHostinglocalApiListApiKeys'),
      async observe(_service, { bySession }) {
        const answer = await bySession.request('GET', '/api-keys');
        return [answer.status, answer.body];
      },
      complete: [200, { items: [expect.objectContaining({ name: 'test' })] }],
      reduced: UNAVAILABLE,
      log: /^gateway .*apigateway.amazonaws.com may not invoke \S*-listApiKeys/m,
    },
  ],
];

let completeService: TestService;
beforeAll(async () => {
  completeService = await borrowTestService();
});
afterAll(() => completeService.close());

describe.for(REMOVALS)('a request that works', (removals) => {
  let service: TestService;
  let before: TestAccount;
  let after: TestAccount;
  beforeAll(async () => {
    service = await startTestService(
      {},
      {
        mayLackGrants: true,
        mayBreakApi: true,
        edit: (templates) => {
          for (const { edit } of removals) edit(templates);
        },
      },
    );
    [before, after] = [await completeService.newAccount(), await service.newAccount()];
  });
  afterAll(() => service.close());

  test.for(removals.map((removal) => [removal.what, removal] as const))('fails without %s', async ([, removal]) => {
    const { observe, complete, reduced, log = /(?:)/ } = removal;
    expect(await observe(completeService, before)).toEqual(complete);
    expect(await observe(service, after)).toEqual(reduced);
    expect(service.logs.join('\n')).toMatch(log);
  });
});

test('closing a test service throws when a call was denied for lack of a grant', async () => {
  const edit = (templates: Templates) => removeGrant(templates, 'HealthRole', 's3:ListBucket', 'Uploads');
  const service = await startTestService({}, { edit });
  expect((await fetch(`${service.urls.root_url}/health`)).status).toBe(503);
  await expect(service.close()).rejects.toThrow(/lacked a grant:\n\S*HealthRole\S* AccessDenied: s3:ListBucket on /);
});

test('closing a test service throws when a fault never applied', async () => {
  const service = await borrowTestService();
  service.front.faults.add({ match: { operation: 'NoSuchOperation' }, effect: 'throttle' });
  await expect(service.close()).rejects.toThrow(/'NoSuchOperation'.* applied to no call/);
});
