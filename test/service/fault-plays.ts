import { setTimeout } from 'node:timers/promises';
import { type Client, client } from '../support/client.ts';
import { askForTicket, complete, put, type Ticket, uploadStreaming } from '../support/lanes.ts';
import { logIn } from '../support/login.ts';
import { type Operator, operatorOf } from '../support/operator.ts';
import { startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { withFault } from '../support/with-fault.ts';
import { NOTHING_TOLD, type Play, type Prepared, type Told } from './fault-matrix.ts';

/** More than one part. */
const LARGE = new Uint8Array(5 * 1024 * 1024 + 1);

function expectStatus({ status, body }: Told, ...expected: number[]): void {
  if (!expected.includes(status)) {
    throw new Error(`answered ${status} ${JSON.stringify(body)}, where only ${expected} is true`);
  }
}

/** A request that changes nothing: when it failed it is repeated, and succeeds. @param waits  as `Retry-After` says. */
function reading(request: () => Promise<Told>, usual = 200, waits = false): Prepared {
  return {
    request,
    goOn: async ({ status, headers }) => {
      if (waits) await setTimeout(Number(headers.get('retry-after') ?? 0) * 1_000);
      if (status !== usual) expectStatus(await request(), usual);
    },
    isFileMade: () => false,
  };
}

/** A request that makes a file, and cannot be repeated safely: what failed must not exist. */
function making(request: () => Promise<Told>): Prepared {
  let isMade = false;
  return {
    request,
    goOn: async ({ status }) => {
      isMade = status === 201;
    },
    isFileMade: () => isMade,
  };
}

/** A request that can be repeated until it makes one file. */
function makingOnce(request: () => Promise<Told>, repeat = request): Prepared {
  return {
    request,
    goOn: async ({ status }) => {
      if (status !== 201) expectStatus(await repeat(), 201);
    },
    isFileMade: () => true,
  };
}

/** A deletion that failed may have happened: repeated, it succeeds or says so. */
function removing({ byKey }: TestAccount, id: unknown): Prepared {
  const remove = () => byKey.request('DELETE', `/files/${id}`);
  const stillHolds = async () => expectStatus(await byKey.request('GET', `/files/${id}`), 404);
  return {
    request: remove,
    goOn: async ({ status }) => {
      if (status !== 200) expectStatus(await remove(), 200, 404);
      await stillHolds();
    },
    stillHolds,
    isFileMade: () => false,
  };
}

/** A service that counts requests and never refuses one, and whose events wait until they are delivered. */
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

function publicPlays(): Play[] {
  /** A page that says why is no usual answer: it counts as 503. */
  const isErrorPage = (told: Told) => /\/dashboard\/login\?error=unavailable$/.test(told.headers.get('location') ?? '');
  const seen = (told: Told): Told => (isErrorPage(told) ? { ...told, status: 503 } : told);
  return [
    {
      what: 'the health check',
      route: 'health',
      isCold: true,
      usual: [200],
      prepare: async (_account, _name, { service: { urls } }) =>
        reading(() => client(urls.root_url).request('GET', '/health'), 200, true),
    },
    ...[false, true].map(
      (isCold): Play => ({
        what: `the start of a login${isCold ? ' in a new environment' : ''}`,
        route: 'startLogin',
        ...(isCold && { isCold }),
        usual: [302],
        prepare: async (_account, _name, { service: { urls } }) => ({
          ...reading(async () => seen(await client(urls.base_url).request('GET', '/auth/google')), 302),
          isTrue: isErrorPage,
        }),
      }),
    ),
    ...[false, true].map(
      (isCold): Play => ({
        what: `the end of a login${isCold ? ' in a new environment' : ''}`,
        route: 'finishLogin',
        ...(isCold && { isCold }),
        usual: [302],
        prepare: async ({ email }, _name, { service }) => {
          const startUrl = startUrlOf(service);
          const enter = () => logIn({ startUrl, email });
          const meBy = (cookie: string) => client(service.urls.base_url, { cookie }).request('GET', '/auth/me');
          // A browser that the identity provider has sent back, and that waits at our door.
          const atDoor = Promise.withResolvers<() => Promise<Response>>();
          const answered = Promise.withResolvers<Response>();
          const around = (comeBack: () => Promise<Response>) => {
            atDoor.resolve(comeBack);
            return answered.promise;
          };
          const entered = logIn({ startUrl, email, around }).catch(() => undefined);
          const comeBack = await atDoor.promise;
          return {
            isTrue: isErrorPage,
            isFileMade: () => false,
            async request() {
              const response = await comeBack();
              answered.resolve(response);
              const cookie = (await entered)?.cookies;
              return seen({ status: response.status, headers: response.headers, body: cookie });
            },
            async goOn({ status, body }) {
              const cookie = status === 302 ? String(body) : (await enter()).cookies;
              expectStatus(await meBy(cookie), 200);
            },
          };
        },
      }),
    ),
  ];
}

function sessionPlays(): Play[] {
  return [
    {
      what: 'the profile',
      route: 'getMe',
      usual: [200],
      prepare: async ({ bySession }) => reading(() => bySession.request('GET', '/auth/me')),
    },
    {
      what: 'a logout',
      route: 'logout',
      usual: [200],
      prepare: async ({ email }, _name, { service }) => {
        const { cookies: cookie } = await logIn({ startUrl: startUrlOf(service), email });
        const bySession = client(service.urls.base_url, { cookie });
        const end = () => bySession.request('POST', '/auth/logout');
        const stillHolds = async () => expectStatus(await bySession.request('GET', '/auth/me'), 401);
        return {
          request: end,
          goOn: async ({ status }) => {
            if (status !== 200) expectStatus(await end(), 200, 401);
            await stillHolds();
          },
          stillHolds,
          isFileMade: () => false,
        };
      },
    },
    {
      what: 'the end of all sessions',
      route: 'endSessions',
      usual: [200],
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
          async goOn({ status }) {
            // A part of them may have ended, and the one that asks with it: then another login finishes it.
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
      what: 'the list of keys',
      route: 'listApiKeys',
      usual: [200],
      prepare: async ({ bySession }) => reading(() => bySession.request('GET', '/api-keys')),
    },
    {
      what: 'a new key',
      route: 'createApiKey',
      usual: [201],
      prepare: async ({ bySession }, name, { service }) => {
        const create = () => bySession.postJson('/api-keys', { name: name.slice(0, 100) });
        let made: Told = NOTHING_TOLD;
        const byMade = () =>
          client(service.urls.base_url, { key: (made.body as { key: string }).key }).request('GET', '/files');
        return {
          request: create,
          async goOn(told) {
            made = told.status === 201 ? told : await create();
            expectStatus(made, 201);
            expectStatus(await byMade(), 200);
            await revokeKeys(bySession, name);
            expectStatus(await byMade(), 401);
          },
          stillHolds: async () => {
            expectStatus(await byMade(), 401);
            // One that was answered as failed, and came late, is listed: its owner can revoke it.
            await revokeKeys(bySession, name);
          },
          isFileMade: () => false,
        };
      },
    },
    {
      what: 'the revocation of a key',
      route: 'revokeApiKey',
      usual: [200],
      prepare: async ({ bySession }, name, { service }) => {
        const { body } = await bySession.postJson('/api-keys', { name: name.slice(0, 100) });
        const revoke = () => bySession.request('DELETE', `/api-keys/${body.id}`);
        const stillHolds = async () => {
          const byKey = client(service.urls.base_url, { key: String(body.key) });
          expectStatus(await byKey.request('GET', '/files'), 401);
        };
        return {
          request: revoke,
          goOn: async ({ status }) => {
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

async function revokeKeys(bySession: TestAccount['bySession'], name: string): Promise<void> {
  const { body } = await bySession.request<{ items: { id: string; name: string }[] }>('GET', '/api-keys');
  for (const key of body.items.filter((one) => one.name === name.slice(0, 100))) {
    expectStatus(await bySession.request('DELETE', `/api-keys/${key.id}`), 200);
  }
}

async function arrived({ byKey }: TestAccount, name: string, headers: Record<string, string> = {}): Promise<Ticket> {
  const { body: ticket } = await askForTicket(byKey, name, 5, headers);
  const status = await put(ticket, 'hello');
  if (status !== 200) throw new Error(`the PUT was answered ${status}`);
  return ticket;
}

/** A completion whose first attempt could not give its lease back is made good when the lease has ended. */
async function completeInTheEnd(operator: Operator, { byKey }: TestAccount, ticket: Ticket): Promise<Told> {
  const answer = await complete(byKey, ticket);
  if (answer.status !== 503) return answer;
  await operator.expireLeases();
  return complete(byKey, ticket);
}

function filePlays(): Play[] {
  const keyed = (name: string) => ({ 'idempotency-key': name });
  const putTold = async (ticket: Ticket): Promise<Told> =>
    put(ticket, 'hello').then(
      (status) => ({ ...NOTHING_TOLD, status }),
      () => NOTHING_TOLD,
    );
  return [
    {
      what: 'the list of files',
      route: 'listFiles',
      usual: [200],
      prepare: async ({ byKey }) => reading(() => byKey.request('GET', '/files?limit=5')),
    },
    {
      what: 'a search',
      route: 'listFiles',
      usual: [200],
      prepare: async ({ byKey }) => reading(() => byKey.request('GET', '/files?search=nothing')),
    },
    {
      what: 'the details of a file',
      route: 'getFile',
      usual: [200],
      prepare: async ({ byKey, bySession }, name) => {
        const { body } = await byKey.upload(name, 'hello');
        return { ...reading(() => bySession.request('GET', `/files/${body.id}`)), isFileMade: () => true };
      },
    },
    {
      what: 'an upload',
      route: 'uploadFile',
      usual: [201],
      prepare: async ({ byKey }, name) => making(() => byKey.upload(name, 'hello')),
    },
    {
      what: 'an upload with a key',
      route: 'uploadFile',
      usual: [201],
      prepare: async ({ byKey }, name) => makingOnce(() => byKey.upload(name, 'hello', { headers: keyed(name) })),
    },
    {
      what: 'a streaming upload',
      route: 'uploadFile',
      isStreaming: true,
      usual: [201],
      prepare: async (account, name) => making(() => uploadStreaming(account, name, LARGE)),
    },
    {
      what: 'a streaming upload with a key',
      route: 'uploadFile',
      isStreaming: true,
      usual: [201],
      prepare: async (account, name) => makingOnce(() => uploadStreaming(account, name, LARGE, keyed(name))),
    },
    {
      what: 'a ticket with a key',
      route: 'uploadFile',
      usual: [202],
      prepare: async ({ byKey }, name) => {
        const ask = () => askForTicket(byKey, name, 5, keyed(name));
        return {
          request: ask,
          async goOn(told) {
            const asked = told.status === 202 ? (told as Awaited<ReturnType<typeof ask>>) : await ask();
            expectStatus(asked, 202);
            expectStatus(await putTold(asked.body), 200);
            expectStatus(await complete(byKey, asked.body), 201);
          },
          isFileMade: () => true,
        };
      },
    },
    {
      what: 'a ticket that is not used',
      route: 'uploadFile',
      usual: [202],
      prepare: async ({ byKey }, name) => ({
        request: () => askForTicket(byKey, name, 5),
        goOn: async () => {},
        isFileMade: () => false,
      }),
    },
    {
      what: 'the bytes of a direct upload',
      route: 'uploadFile',
      isWithoutRetries: true,
      usual: [200],
      prepare: async ({ byKey }, name) => {
        const { body: ticket } = await askForTicket(byKey, name, 5);
        return {
          request: () => putTold(ticket),
          isTrue: () => true,
          async goOn({ status }) {
            if (status !== 200) expectStatus(await putTold(ticket), 200, 412);
            expectStatus(await complete(byKey, ticket), 201);
          },
          isFileMade: () => true,
        };
      },
    },
    {
      what: 'a completion',
      route: 'completeUpload',
      usual: [201],
      prepare: async (account, name, operator) => {
        const ticket = await arrived(account, name);
        return makingOnce(
          () => complete(account.byKey, ticket),
          () => completeInTheEnd(operator, account, ticket),
        );
      },
    },
    {
      what: 'the deletion of a file',
      route: 'deleteFile',
      usual: [200],
      prepare: async (account, name) => removing(account, (await account.byKey.upload(name, 'hello')).body.id),
    },
    {
      what: 'the cancellation of a ticket',
      route: 'deleteFile',
      usual: [200],
      prepare: async (account, name) => removing(account, (await arrived(account, name)).id),
    },
  ];
}

function backgroundPlays(): Play[] {
  return [
    {
      what: 'the event of a direct upload',
      route: 'settle-upload',
      usual: [200],
      prepare: async (account, name, operator) => {
        const { service } = operator;
        const ticket = await arrived(account, name);
        const deliver = async (): Promise<Told> => {
          await service.deliverEvents();
          service.holdEvents();
          return { ...NOTHING_TOLD, status: 200 };
        };
        return makingOnce(deliver, () => completeInTheEnd(operator, account, ticket));
      },
    },
    {
      what: 'the sweeper',
      route: 'sweep',
      usual: [200],
      prepare: async (account, name, operator) => {
        await leaveWork(operator, account, name);
        await operator.expireDeadlines();
        const sweep = async (): Promise<Told> =>
          operator.sweep().then(
            (body) => ({ ...NOTHING_TOLD, status: 200, body }),
            () => NOTHING_TOLD,
          );
        return {
          request: sweep,
          isTrue: () => true,
          async goOn() {
            await operator.expireDeadlines();
            expectStatus(await sweep(), 200);
          },
          isFileMade: () => false,
        };
      },
    },
  ];
}

/** Leaves one row of each kind for the sweeper. */
async function leaveWork({ service }: Operator, account: TestAccount, name: string): Promise<void> {
  const { byKey } = account;
  const storage = (operation: string) => ({
    match: { service: 's3' as const, operation },
    effect: 'error-before' as const,
  });
  await withFault(service, storage('PutObject'), () => byKey.upload(name, 'hello'));
  const { body } = await byKey.upload(name, 'hello');
  await withFault(service, storage('DeleteObject'), () => byKey.request('DELETE', `/files/${body.id}`));
  await arrived(account, name);
  const { body: ticket } = await askForTicket(byKey, name, 5);
  await byKey.request('DELETE', `/files/${ticket.id}`);
}

/** Every route, lane and background handler. */
export const PLAYS: readonly Play[] = [...publicPlays(), ...sessionPlays(), ...filePlays(), ...backgroundPlays()];
