import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { logIn } from '../../local-aws/identity-provider/log-in.ts';
import { SHARDS } from '../../shared/contract/limits.ts';
import { shardOf } from '../../shared/files/shards.ts';
import { type Client, client } from '../support/client.ts';
import { askForTicket, complete, put, type Ticket, uploadStreaming } from '../support/lanes.ts';
import { type Operator, operatorOf } from '../support/operator.ts';
import { startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { withFault } from '../support/with-fault.ts';
import { NO_ANSWER, type Outcome, type Prepared, type Scenario } from './fault-matrix.ts';

/** Content that does not fit into one part. */
const LARGE = new Uint8Array(5 * 1024 * 1024 + 1);

/**
 * The test ends all leases at this interval, in place of the half minute that they last. An attempt without a fault takes much less time.
 */
const LEASE_PATIENCE_MS = 3_000;

function expectStatus({ status, body }: Outcome, ...expected: number[]): void {
  if (!expected.includes(status)) {
    throw new Error(`expected ${expected}, got ${status} ${JSON.stringify(body)}`);
  }
}

/** A request that changes nothing: after a failure it is repeated. @param waits  true to wait for `Retry-After` first. */
function reading(request: () => Promise<Outcome>, success = 200, waits = false): Prepared {
  return {
    request,
    followUp: async ({ status, headers }) => {
      if (waits) await setTimeout(Number(headers.get('retry-after') ?? 0) * 1_000);
      if (status !== success) expectStatus(await request(), success);
    },
    isFileMade: () => false,
  };
}

/** A request that makes a file and has no Idempotency-Key: after a 5xx the file may exist. */
function making(request: () => Promise<Outcome>): Prepared {
  let isMade: boolean | undefined;
  return {
    request,
    followUp: async ({ status }) => {
      isMade = status === 201 || undefined;
    },
    isFileMade: () => isMade,
  };
}

/** A request that can be repeated safely: however often it is sent, it makes exactly one file, and the last answer gives that file. */
function makingOnce({ byKey }: TestAccount, request: () => Promise<Outcome>, repeat = request): Prepared {
  let made: Outcome = NO_ANSWER;
  return {
    request,
    followUp: async (outcome) => {
      made = outcome.status === 201 ? outcome : await repeat();
      expectStatus(made, 201);
    },
    stillHolds: async () => {
      const found = await byKey.request('GET', `/files/${(made.body as { id: string }).id}`);
      expectStatus(found, 200);
      if (!isDeepStrictEqual(found.body, made.body)) throw new Error('the answer has another file');
    },
    isFileMade: () => true,
  };
}

/** A deletion of a file, or the cancellation of an upload. One that was answered by an error may have happened, so a retry is 200 or 404. */
function removing({ byKey }: TestAccount, id: unknown, collection: 'files' | 'uploads' = 'files'): Prepared {
  const remove = () => byKey.request('DELETE', `/${collection}/${id}`);
  const stillHolds = async () => expectStatus(await byKey.request('GET', `/files/${id}`), 404);
  return {
    request: remove,
    followUp: async ({ status }) => {
      if (status !== 200) expectStatus(await remove(), 200, 404);
      await stillHolds();
    },
    stillHolds,
    isFileMade: () => false,
  };
}

/** Starts a service whose rate limits are never reached, and whose events are held back until they are delivered. */
export async function startMatrix() {
  const service = await startTestService({
    RATE_LIMIT_UPLOADS_PER_MINUTE: '100000',
    RATE_LIMIT_REQUESTS_PER_MINUTE: '100000',
    RATE_LIMIT_LISTS_PER_MINUTE: '100000',
    RATE_LIMIT_LOGIN_STARTS_PER_MINUTE: '100000',
  });
  service.holdEvents();
  const operator = operatorOf(service);
  const close = async () => {
    operator.close();
    await service.close();
  };
  return { operator, close };
}

const startUrlOf = ({ urls }: TestService) => `${urls.base_url}/auth/google`;

function publicScenarios(): Scenario[] {
  /** A browser is redirected to an error page where a program gets 503. */
  const isErrorPage = (outcome: Outcome) =>
    /\/dashboard\/login\?error=unavailable$/.test(outcome.headers.get('location') ?? '');
  const errorPageAs503 = (outcome: Outcome): Outcome => (isErrorPage(outcome) ? { ...outcome, status: 503 } : outcome);
  return [
    {
      name: 'the health check',
      route: 'health',
      isCold: true,
      success: [200],
      prepare: async (_account, _name, { service: { urls } }) =>
        reading(() => client(urls.root_url).request('GET', '/health'), 200, true),
    },
    ...[false, true].map(
      (isCold): Scenario => ({
        name: `the start of a login${isCold ? ' in a new environment' : ''}`,
        route: 'startLogin',
        ...(isCold && { isCold }),
        success: [302],
        prepare: async (_account, _name, { service: { urls } }) => ({
          ...reading(async () => errorPageAs503(await client(urls.base_url).request('GET', '/auth/google')), 302),
          isAlsoValid: isErrorPage,
        }),
      }),
    ),
    ...[false, true].map(
      (isCold): Scenario => ({
        name: `the end of a login${isCold ? ' in a new environment' : ''}`,
        route: 'finishLogin',
        ...(isCold && { isCold }),
        success: [302],
        prepare: async ({ email }, _name, { service }) => {
          const startUrl = startUrlOf(service);
          const enter = () => logIn({ startUrl, email });
          const meBy = (cookie: string) => client(service.urls.base_url, { cookie }).request('GET', '/auth/me');
          // Logs in up to the callback. The request of the callback is held back until `request` below sends it.
          const atCallback = Promise.withResolvers<() => Promise<Response>>();
          const answered = Promise.withResolvers<Response>();
          const around = (comeBack: () => Promise<Response>) => {
            atCallback.resolve(comeBack);
            return answered.promise;
          };
          const entered = logIn({ startUrl, email, around }).catch(() => undefined);
          const comeBack = await atCallback.promise;
          return {
            isAlsoValid: isErrorPage,
            isFileMade: () => false,
            async request() {
              const response = await comeBack();
              answered.resolve(response);
              const cookie = (await entered)?.cookies;
              return errorPageAs503({ status: response.status, headers: response.headers, body: cookie });
            },
            async followUp({ status, body }) {
              const cookie = status === 302 ? String(body) : (await enter()).cookies;
              expectStatus(await meBy(cookie), 200);
            },
          };
        },
      }),
    ),
  ];
}

function sessionScenarios(): Scenario[] {
  return [
    {
      name: 'the profile',
      route: 'getMe',
      success: [200],
      prepare: async ({ bySession }) => reading(() => bySession.request('GET', '/auth/me')),
    },
    {
      name: 'a logout',
      route: 'logout',
      success: [200],
      prepare: async ({ email }, _name, { service }) => {
        const { cookies: cookie } = await logIn({ startUrl: startUrlOf(service), email });
        const bySession = client(service.urls.base_url, { cookie });
        const end = () => bySession.request('POST', '/auth/logout');
        const stillHolds = async () => expectStatus(await bySession.request('GET', '/auth/me'), 401);
        return {
          request: end,
          followUp: async ({ status }) => {
            if (status !== 200) expectStatus(await end(), 200, 401);
            await stillHolds();
          },
          stillHolds,
          isFileMade: () => false,
        };
      },
    },
    {
      name: 'the list of sessions',
      route: 'listSessions',
      success: [200],
      prepare: async ({ bySession }) => reading(() => bySession.request('GET', '/auth/sessions')),
    },
    {
      name: 'the end of another session',
      route: 'endSession',
      success: [200],
      prepare: async ({ email, bySession }, _name, { service }) => {
        const { cookies: cookie } = await logIn({ startUrl: startUrlOf(service), email });
        const other = client(service.urls.base_url, { cookie });
        const { body } = await other.request<{ items: { id: string; current: boolean }[] }>('GET', '/auth/sessions');
        const id = body.items.find(({ current }) => current)?.id;
        const end = () => bySession.request('DELETE', `/auth/sessions/${id}`);
        const stillHolds = async () => expectStatus(await other.request('GET', '/auth/me'), 401);
        return {
          request: end,
          followUp: async ({ status }) => {
            if (status !== 200) expectStatus(await end(), 200, 404);
            await stillHolds();
          },
          stillHolds,
          isFileMade: () => false,
        };
      },
    },
    {
      name: 'the end of all sessions',
      route: 'endSessions',
      success: [200],
      prepare: async ({ email }, _name, { service }) => {
        const startUrl = startUrlOf(service);
        const cookies = [await logIn({ startUrl, email }), await logIn({ startUrl, email })].map((one) => one.cookies);
        const [own, other] = cookies.map((cookie) => client(service.urls.base_url, { cookie })) as [Client, Client];
        const end = () => own.request('DELETE', '/auth/sessions');
        const stillHolds = async () => {
          for (const session of [own, other]) expectStatus(await session.request('GET', '/auth/me'), 401);
        };
        return {
          request: end,
          async followUp({ status }) {
            // If only some sessions ended, and the session of this request is one of them, the user logs in again and repeats the request.
            if (status !== 200 && (await end()).status === 401) {
              const { cookies: cookie } = await logIn({ startUrl, email });
              expectStatus(await client(service.urls.base_url, { cookie }).request('DELETE', '/auth/sessions'), 200);
            }
            await stillHolds();
          },
          stillHolds,
          isFileMade: () => false,
        };
      },
    },
    {
      name: 'the list of keys',
      route: 'listApiKeys',
      success: [200],
      prepare: async ({ bySession }) => reading(() => bySession.request('GET', '/api-keys')),
    },
    {
      name: 'a new key',
      route: 'createApiKey',
      success: [201],
      prepare: async ({ bySession }, fileName, { service }) => {
        const create = () => bySession.postJson('/api-keys', { name: fileName.slice(0, 100) });
        let made: Outcome = NO_ANSWER;
        const byMade = () =>
          client(service.urls.base_url, { key: (made.body as { key: string }).key }).request('GET', '/files');
        return {
          request: create,
          async followUp(outcome) {
            made = outcome.status === 201 ? outcome : await create();
            expectStatus(made, 201);
            expectStatus(await byMade(), 200);
            await revokeKeys(bySession, fileName);
            expectStatus(await byMade(), 401);
          },
          stillHolds: async () => {
            expectStatus(await byMade(), 401);
            // A key whose creation failed but was applied late is in the list, so that its owner can revoke it.
            await revokeKeys(bySession, fileName);
          },
          isFileMade: () => false,
        };
      },
    },
    {
      name: 'the revocation of a key',
      route: 'revokeApiKey',
      success: [200],
      prepare: async ({ bySession }, fileName, { service }) => {
        const { body } = await bySession.postJson('/api-keys', { name: fileName.slice(0, 100) });
        const revoke = () => bySession.request('DELETE', `/api-keys/${body.id}`);
        const stillHolds = async () => {
          const byKey = client(service.urls.base_url, { key: String(body.key) });
          expectStatus(await byKey.request('GET', '/files'), 401);
        };
        return {
          request: revoke,
          followUp: async ({ status }) => {
            if (status !== 200) expectStatus(await revoke(), 200, 404);
            await stillHolds();
          },
          stillHolds,
          isFileMade: () => false,
        };
      },
    },
  ];
}

async function revokeKeys(bySession: TestAccount['bySession'], fileName: string): Promise<void> {
  const { body } = await bySession.request<{ items: { id: string; name: string }[] }>('GET', '/api-keys');
  for (const key of body.items.filter((one) => one.name === fileName.slice(0, 100))) {
    expectStatus(await bySession.request('DELETE', `/api-keys/${key.id}`), 200);
  }
}

async function arrived(
  { byKey }: TestAccount,
  fileName: string,
  headers: Record<string, string> = {},
): Promise<Ticket> {
  const { body: ticket } = await askForTicket(byKey, fileName, 5, headers);
  const status = await put(ticket, 'hello');
  if (status !== 200) throw new Error(`the PUT was answered ${status}`);
  return ticket;
}

/** Completes a ticket. The answer is 503 while a failed attempt still holds the lease. Then this ends the lease and tries again. */
async function completeInTheEnd(operator: Operator, { byKey }: TestAccount, ticket: Ticket): Promise<Outcome> {
  const answer = await complete(byKey, ticket);
  if (answer.status !== 503) return answer;
  await operator.expireLeases();
  return complete(byKey, ticket);
}

function fileScenarios(): Scenario[] {
  const keyed = (fileName: string) => ({ 'idempotency-key': fileName });
  const putBytes = async (ticket: Ticket): Promise<Outcome> =>
    put(ticket, 'hello').then(
      (status) => ({ ...NO_ANSWER, status }),
      () => NO_ANSWER,
    );
  return [
    {
      name: 'the list of files',
      route: 'listFiles',
      success: [200],
      prepare: async ({ byKey }) => reading(() => byKey.request('GET', '/files?limit=5')),
    },
    {
      name: 'a later page of the list of files',
      route: 'listFiles',
      success: [200],
      prepare: async ({ byKey }, fileName) => {
        for (const name of [fileName, 'newer']) expectStatus(await byKey.upload(name, 'hello'), 201);
        return { ...reading(() => byKey.request('GET', '/files?limit=1&page=2')), isFileMade: () => true };
      },
    },
    {
      name: 'a search',
      route: 'listFiles',
      success: [200],
      prepare: async ({ byKey }) => reading(() => byKey.request('GET', '/files?search=nothing')),
    },
    {
      name: 'the details of a file',
      route: 'getFile',
      success: [200],
      prepare: async ({ byKey, bySession }, fileName) => {
        const { body } = await byKey.upload(fileName, 'hello');
        return { ...reading(() => bySession.request('GET', `/files/${body.id}`)), isFileMade: () => true };
      },
    },
    {
      name: 'the usage',
      route: 'getUsage',
      success: [200],
      prepare: async ({ byKey }) => reading(() => byKey.request('GET', '/usage')),
    },
    {
      name: 'an upload',
      route: 'uploadFile',
      success: [201],
      prepare: async ({ byKey }, fileName) => making(() => byKey.upload(fileName, 'hello')),
    },
    {
      name: 'an upload with a key',
      route: 'uploadFile',
      success: [201],
      prepare: async (account, fileName) =>
        makingOnce(account, () => account.byKey.upload(fileName, 'hello', { headers: keyed(fileName) })),
    },
    {
      name: 'a streaming upload',
      route: 'uploadFile',
      isStreaming: true,
      success: [201],
      prepare: async (account, fileName) => making(() => uploadStreaming(account, fileName, LARGE)),
    },
    {
      name: 'a streaming upload with a key',
      route: 'uploadFile',
      isStreaming: true,
      success: [201],
      prepare: async (account, fileName) =>
        makingOnce(account, () => uploadStreaming(account, fileName, LARGE, keyed(fileName))),
    },
    {
      name: 'a ticket with a key',
      route: 'createUpload',
      success: [202],
      prepare: async ({ byKey }, fileName) => {
        const ask = () => askForTicket(byKey, fileName, 5, keyed(fileName));
        return {
          request: ask,
          async followUp(outcome) {
            const asked = outcome.status === 202 ? (outcome as Awaited<ReturnType<typeof ask>>) : await ask();
            expectStatus(asked, 202);
            expectStatus(await putBytes(asked.body), 200);
            expectStatus(await complete(byKey, asked.body), 201);
          },
          isFileMade: () => true,
        };
      },
    },
    {
      name: 'a ticket that is not used',
      route: 'createUpload',
      success: [202],
      prepare: async ({ byKey }, fileName) => ({
        request: () => askForTicket(byKey, fileName, 5),
        followUp: async () => {},
        isFileMade: () => false,
      }),
    },
    {
      name: 'the bytes of a direct upload',
      route: 'createUpload',
      isWithoutRetries: true,
      success: [200],
      prepare: async ({ byKey }, fileName) => {
        const { body: ticket } = await askForTicket(byKey, fileName, 5);
        return {
          request: () => putBytes(ticket),
          isAlsoValid: () => true,
          async followUp({ status }) {
            if (status !== 200) expectStatus(await putBytes(ticket), 200, 412);
            expectStatus(await complete(byKey, ticket), 201);
          },
          isFileMade: () => true,
        };
      },
    },
    {
      name: 'a completion',
      route: 'completeUpload',
      success: [201],
      prepare: async (account, fileName, operator) => {
        const ticket = await arrived(account, fileName);
        return makingOnce(
          account,
          () => complete(account.byKey, ticket),
          () => completeInTheEnd(operator, account, ticket),
        );
      },
    },
    {
      name: 'the deletion of a file',
      route: 'deleteFile',
      success: [200],
      prepare: async (account, fileName) => removing(account, (await account.byKey.upload(fileName, 'hello')).body.id),
    },
    {
      name: 'the cancellation of a ticket',
      route: 'cancelUpload',
      success: [200],
      prepare: async (account, fileName) => removing(account, (await arrived(account, fileName)).id, 'uploads'),
    },
  ];
}

function backgroundScenarios(): Scenario[] {
  return [
    {
      name: 'the event of a direct upload',
      route: 'complete-arrived-upload',
      success: [200],
      prepare: async (account, fileName, operator) => {
        const { service } = operator;
        const ticket = await arrived(account, fileName);
        const deliver = async (): Promise<Outcome> => {
          // If an attempt cannot give its lease back, the next delivery of the event would wait half a minute for the end of the lease.
          const expiry = setInterval(() => operator.expireLeases(), LEASE_PATIENCE_MS);
          try {
            await service.deliverEvents();
          } finally {
            clearInterval(expiry);
          }
          service.holdEvents();
          return { ...NO_ANSWER, status: 200 };
        };
        return makingOnce(account, deliver, () => completeInTheEnd(operator, account, ticket));
      },
    },
    {
      name: 'the sweeper',
      route: 'sweep',
      success: [200],
      prepare: async (account, fileName, operator) => {
        await leaveWork(operator, account, fileName);
        await operator.expireDeadlines();
        // The sweeper of the account's shard alone: the others make the same calls, and find nothing.
        const part = { sweeper: shardOf(account.id), sweepers: SHARDS };
        const sweep = async (): Promise<Outcome> =>
          operator.sweep(part).then(
            (body) => ({ ...NO_ANSWER, status: 200, body }),
            () => NO_ANSWER,
          );
        return {
          request: sweep,
          isAlsoValid: () => true,
          async followUp() {
            await operator.expireDeadlines();
            expectStatus(await sweep(), 200);
          },
          isFileMade: () => false,
        };
      },
    },
  ];
}

/**
 * Leaves work for the sweeper: a deletion that did not remove the object, a ticket with its bytes, and a cancelled ticket. (The upload that
 * fails leaves none.)
 */
async function leaveWork({ service }: Operator, account: TestAccount, fileName: string): Promise<void> {
  const { byKey } = account;
  const storage = (operation: string) => ({
    match: { service: 's3' as const, operation },
    effect: 'error-before' as const,
  });
  await withFault(service, storage('PutObject'), () => byKey.upload(fileName, 'hello'));
  const { body } = await byKey.upload(fileName, 'hello');
  await withFault(service, storage('DeleteObject'), () => byKey.request('DELETE', `/files/${body.id}`));
  await arrived(account, fileName);
  const { body: ticket } = await askForTicket(byKey, fileName, 5);
  await byKey.request('DELETE', `/uploads/${ticket.id}`);
}

/** Scenarios of every route, lane and background function. */
export const SCENARIOS: readonly Scenario[] = [
  ...publicScenarios(),
  ...sessionScenarios(),
  ...fileScenarios(),
  ...backgroundScenarios(),
];
