import { randomUUID } from 'node:crypto';
import { DeleteItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { DeleteObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, inject, vi } from 'vitest';
import type { ROUTES, RouteName } from '../../../functions/routes.ts';
import type { ApiFunction } from '../../../shared/stack/route-stack.ts';
import { TABLES, type TableDefinition, type TableName } from '../../../shared/tables.ts';
import { FORM, part } from '../../support/forms.ts';
import { BUCKET, startService } from '../files/service.ts';
import type { Answer, Credential } from './access.ts';
import { installClock } from './clock.ts';
import { LIMITS } from './limits.ts';

const START = Date.UTC(2027, 0, 1, 9);
const APP_URL = 'https://app.example';
const CDN_URL = 'https://cdn.example';
/** As Lambda gives the functions of the routes, and those in the background. */
const REQUEST_MS = 28_500;
const BACKGROUND_MS = 120_000;

export interface Request {
  /** The header with the credential: `{ authorization }` or `{ cookie }`. */
  readonly credential: Readonly<Record<string, string>>;
  readonly id?: string | undefined;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: object;
  readonly form?: { readonly name: string; readonly content: string; readonly isStream: boolean };
}

/** Loads every function that histories call into this process, on the engines of the tests. Call it once in a test file. */
export async function startWorld() {
  const clock = installClock(START);
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  afterAll(() => vi.restoreAllMocks());
  const variables = { CDN_URL, CDN_DISTRIBUTION_URL: CDN_URL, APP_URL_PARAMETER: 'app-url', STAGE: 'local' };
  const engine = { AWS_ENDPOINT_URL_DYNAMODB: inject('dynamoDbEndpoint') };
  Object.assign(process.env, LIMITS, variables, engine);
  /** The objects whose events have not been delivered yet. */
  const arrived: string[] = [];
  const service = await startService({
    front: {
      parameters: { 'app-url': APP_URL },
      onObjectCreated: ({ key }) => {
        if (key.startsWith('incoming/')) arrived.push(key);
      },
    },
  });
  await readLate();
  const functions = await loadFunctions();
  const { SHARDS } = await import('../../../shared/contract/limits.ts');
  const { stores } = await import('../../../operator/admin/commands/stores.ts');
  const operator = {
    ...(await import('../../../shared/administration/delete-account.ts')),
    ...(await import('../../../shared/administration/reconcile.ts')),
    ...(await import('../../../shared/administration/suspend-account.ts')),
    ...(await import('../../../shared/administration/take-down.ts')),
  };
  const context = (ms: number) => {
    const endsAt = clock.now() + ms;
    return { awsRequestId: randomUUID(), getRemainingTimeInMillis: () => endsAt - clock.now() } as never;
  };
  return {
    clock,
    service,
    stores,
    operator,
    arrived,
    async request(name: keyof typeof functions, request: Request): Promise<Answer> {
      const { route, handler } = functions[name];
      const { statusCode, body, headers = {} } = await handler(eventOf(route, request), context(REQUEST_MS));
      return { status: statusCode, body: JSON.parse(body), headers };
    },
    deliver: async (key: string) => {
      const { handler } = await import('../../../functions/background/complete-arrived-upload.ts');
      await handler({ detail: { object: { key } } } as never, context(BACKGROUND_MS));
    },
    sweep: async (isWhole: boolean) => {
      const { handler } = await import('../../../functions/background/sweep.ts');
      return handler(isWhole ? {} : { sweeper: 0, sweepers: SHARDS }, context(BACKGROUND_MS));
    },
    /** All accounts are in one shard, so that most sweeps need not look at the others. */
    newAccountId: () => randomUUID().replace(/..$/, '00'),
    /** Removes what a history that failed has left, so that it does not disturb the next one. */
    async clear(): Promise<void> {
      arrived.length = 0;
      for (const name of ['files', 'accounts'] as const) {
        const { Items = [] } = await service.engine.send(new ScanCommand({ TableName: service.tables[name] }));
        for (const { id, account_id } of Items) {
          const Key = { ...(id && { id }), ...(account_id && { account_id }) };
          await service.engine.send(new DeleteItemCommand({ TableName: service.tables[name], Key }));
        }
      }
      const { Contents = [] } = await service.s3.send(new ListObjectsV2Command({ Bucket: BUCKET }));
      for (const { Key } of Contents) await service.s3.send(new DeleteObjectCommand({ Bucket: BUCKET, Key }));
    },
    /** A new API key of an account, as its owner keeps it. */
    newKey: async (accountId: string, name: string): Promise<Credential> => {
      const { createApiKey } = await import('../../../shared/api-keys/api-key.ts');
      const request = { accountId, name, kind: 'test', deadlineAt: Number.POSITIVE_INFINITY } as const;
      const { key, id } = await createApiKey(stores.keys, request);
      const times = { madeAt: clock.now(), usedAt: clock.now() };
      return { name, id, header: { authorization: `Bearer ${key}` }, exists: 'yes', ...times };
    },
    /** Begins a session, as a login does. @returns its cookie; undefined when the login is refused. */
    async logIn(accountId: string): Promise<Credential['header'] | undefined> {
      const { startSession } = await import('../../../shared/sessions/session.ts');
      await stores.accounts.upsert({ id: accountId, email: `${accountId}@example.com`, name: 'Somebody' }, clock.now());
      const token = await startSession(stores.sessions, { accountId, userAgent: '' }).catch((error) => {
        if (error.code !== 'unauthorized') throw error;
      });
      if (token === undefined) return undefined;
      const { sessionCookie } = await import('../../../shared/http/cookies.ts');
      return { cookie: sessionCookie(token, APP_URL).split(';', 1)[0] ?? '', origin: APP_URL };
    },
    /** DynamoDB's TTL: removes the rows that expired so long ago. */
    async expireRows(lateMs: number): Promise<void> {
      const before = (clock.now() - lateMs) / 1_000;
      for (const [name, { ttl, partitionKey }] of Object.entries(TABLES as Record<string, TableDefinition>)) {
        if (ttl === undefined) continue;
        const TableName = service.tables[name as TableName];
        const { Items = [] } = await service.engine.send(new ScanCommand({ TableName }));
        for (const item of Items.filter((one) => Number(one[ttl]?.N) < before)) {
          const Key = { [partitionKey.name]: item[partitionKey.name] as never };
          await service.engine.send(new DeleteItemCommand({ TableName, Key }));
        }
      }
    },
    /** The key of the object that a link leads to. */
    objectOf: (url: string) => new URL(url).pathname.split('/').slice(1, 3).join('/'),
  };
}

export type World = Awaited<ReturnType<typeof startWorld>>;

/** Lets every read of an item that is not strongly consistent give what the read before it has found, as DynamoDB may for a moment. */
async function readLate(): Promise<void> {
  const { dynamoDb } = await import('../../../shared/aws/dynamodb.ts');
  const found = new Map<string, unknown>();
  const client = dynamoDb as unknown as { send: (command: unknown, ...options: unknown[]) => Promise<unknown> };
  const send = client.send.bind(client);
  client.send = async (command, ...options) => {
    const answer = await send(command, ...options);
    if (!(command instanceof GetCommand)) return answer;
    const { TableName, Key, ConsistentRead } = command.input;
    const item = `${TableName} ${JSON.stringify(Key)}`;
    const before = found.get(item);
    found.set(item, answer);
    return ConsistentRead ? answer : (before ?? answer);
  };
}

async function loadFunctions() {
  const { ROUTES } = await import('../../../functions/routes.ts');
  const load = async <Name extends RouteName>(name: Name, loading: Promise<{ handler: ApiFunction }>) => ({
    route: ROUTES[name],
    handler: (await loading).handler,
  });
  return {
    uploadFile: await load('uploadFile', import('../../../functions/files/upload-file.ts')),
    listFiles: await load('listFiles', import('../../../functions/files/list-files.ts')),
    getFile: await load('getFile', import('../../../functions/files/get-file.ts')),
    deleteFile: await load('deleteFile', import('../../../functions/files/delete-file.ts')),
    getUsage: await load('getUsage', import('../../../functions/get-usage.ts')),
    createUpload: await load('createUpload', import('../../../functions/uploads/create-upload.ts')),
    completeUpload: await load('completeUpload', import('../../../functions/uploads/complete-upload.ts')),
    cancelUpload: await load('cancelUpload', import('../../../functions/uploads/cancel-upload.ts')),
    createApiKey: await load('createApiKey', import('../../../functions/api-keys/create-api-key.ts')),
    listApiKeys: await load('listApiKeys', import('../../../functions/api-keys/list-api-keys.ts')),
    revokeApiKey: await load('revokeApiKey', import('../../../functions/api-keys/revoke-api-key.ts')),
    logout: await load('logout', import('../../../functions/auth/logout.ts')),
    endSessions: await load('endSessions', import('../../../functions/auth/end-sessions.ts')),
  };
}

/** The event that the gateway makes of a request; with `isStream`, the one that the streaming server makes. */
function eventOf(route: (typeof ROUTES)[RouteName], { credential, id, query = {}, headers = {}, json, form }: Request) {
  const content = form && formOf(form);
  const type = json ? 'application/json' : form ? FORM : undefined;
  const all = { ...credential, ...headers, ...(type && { 'content-type': type }) };
  return {
    httpMethod: route.method,
    path: route.path,
    multiValueHeaders: Object.fromEntries(Object.entries(all).map(([name, value]) => [name, [value]])),
    multiValueQueryStringParameters: Object.fromEntries(Object.entries(query).map(([name, value]) => [name, [value]])),
    pathParameters: id === undefined ? null : { id },
    body: json ? JSON.stringify(json) : (content ?? null),
    isBase64Encoded: false,
    requestContext: { requestId: randomUUID(), identity: { sourceIp: '192.0.2.1' } },
    ...(form?.isStream && { body: null, stream: streamOf(content ?? '') }),
  };
}

function formOf({ name, content }: { name: string; content: string }): string {
  const head = `Content-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: text/plain`;
  return `${part(head, content)}--B--\r\n`;
}

/** A body that arrives in two pieces. */
function streamOf(text: string) {
  const bytes = Buffer.from(text);
  const half = bytes.length >> 1;
  const body = {
    bytes: 0,
    hasEnded: false,
    async *[Symbol.asyncIterator]() {
      for (const piece of [bytes.subarray(0, half), bytes.subarray(half)]) {
        body.bytes += piece.length;
        yield piece;
      }
      body.hasEnded = true;
    },
  };
  return body;
}
