import { randomInt, randomUUID } from 'node:crypto';
import { setDefaultResultOrder } from 'node:dns';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient, paginateQuery } from '@aws-sdk/client-dynamodb';
import { HeadObjectCommand, NotFound, paginateListObjectsV2, S3Client } from '@aws-sdk/client-s3';
import { inject } from 'vitest';
import { subjectOf } from '../../local-aws/identity-provider/accounts.ts';
import { logIn } from '../../local-aws/identity-provider/log-in.ts';
import { type LocalService, type ServiceOptions, startService } from '../../local-aws/service.ts';
import type { LimitName } from '../../shared/contract/limits.ts';
import { shardOf } from '../../shared/files/shards.ts';
import { accountIdOf } from '../../shared/login/identity.ts';
import { TABLES, type TableName } from '../../shared/tables.ts';
import { type Credentials, writeAccount } from './accounts.ts';
import { type Client, client } from './client.ts';
import { departures } from './openapi-check.ts';

// The service listens on both addresses of `localhost`. Tests look for 127.0.0.1 in its logs.
setDefaultResultOrder('ipv4first');

/** An account with a session and one API key. */
export interface TestAccount extends Credentials {
  readonly byKey: Client;
  readonly bySession: Client;
}

export interface TestServiceOptions extends Partial<Omit<ServiceOptions, 'onLog'>> {
  /** Set by tests that remove grants from the template. Otherwise `close` throws when a call was denied for lack of a grant. */
  readonly mayLackGrants?: boolean;
  /** Set by tests that break the API. Otherwise `close` throws when an answer departed from the OpenAPI document. */
  readonly mayBreakApi?: boolean;
}

export interface TestService extends LocalService {
  readonly dataDir: string;
  /** The physical names of the tables. */
  readonly tables: Readonly<Record<TableName, string>>;
  /** All lines logged so far, by the functions and by the local AWS. */
  readonly logs: string[];
  /** How answers, and requests that were accepted, departed from the OpenAPI document. `close` throws when it is not empty. */
  readonly undocumented: string[];
  /**
   * Makes an account with a session and an API key, by writing its rows. With an e-mail address it logs in and creates the key through
   * the API.
   */
  newAccount(email?: string): Promise<TestAccount>;
  /** The rows of an account's files and tickets. */
  rowsOf(accountId: string): Promise<Record<string, unknown>[]>;
  /** The total size in bytes of an account's objects in the bucket. */
  storedBytes(accountId: string): Promise<number>;
  /** Holds back the bucket's events until {@link deliverEvents}. */
  holdEvents(): void;
  /** Delivers the held events, waits until the functions they started have ended, and stops holding events back. */
  deliverEvents(): Promise<void>;
}

/**
 * Starts the whole service from the synthesized template, on free ports.
 * @param limits  replace the defaults.
 */
export async function startTestService(
  limits: Partial<Record<LimitName, string>> = {},
  { mayLackGrants = false, mayBreakApi = false, ...options }: TestServiceOptions = {},
): Promise<TestService> {
  const dataDir = await mkdtemp(join(tmpdir(), 'file-hosting-data-'));
  const logs: string[] = [];
  const undocumented: string[] = [];
  const service = await startService({
    assembly: inject('assembly'),
    dataDir,
    port: 0,
    dynamoDbEndpoint: inject('dynamoDbEndpoint'),
    accountId: String(randomInt(1e11, 1e12 - 1)),
    environment: {
      // All accounts of a test log in from the same address.
      RATE_LIMIT_LOGIN_STARTS_PER_MINUTE: '10000',
      ...limits,
    },
    onLog: ({ function: source, line }) => logs.push(`${source} ${line}`),
    onRequest: (request) => logs.push(JSON.stringify(request)),
    onExchange: (exchange) => undocumented.push(...departures(exchange)),
    retryDelaysMs: [10, 10],
    ...options,
  });
  const admin = adminOf(service);
  /** When `newAccount` first gave each account, in epoch milliseconds, by id. */
  const createdAt = new Map<string, number>();
  const held: (() => void)[] = [];
  return {
    ...service,
    dataDir,
    tables: admin.tables,
    logs,
    async newAccount(email) {
      const startedAt = Date.now();
      const credentials = await (email === undefined
        ? writeAccount(admin.dynamoDb, { ...service, tables: admin.tables })
        : logInAndCreateKey(service, email));
      const account = { ...credentials, ...clientsOf(service, credentials) };
      if (!createdAt.has(account.id)) createdAt.set(account.id, startedAt);
      return account;
    },
    undocumented,
    rowsOf: admin.rowsOf,
    storedBytes: (accountId) => admin.storedBytes(accountId, createdAt.get(accountId) ?? 0),
    holdEvents: () => service.bus.deliverBy((deliver) => held.push(deliver)),
    async deliverEvents() {
      service.bus.deliverBy((deliver) => deliver());
      while (held.length > 0) {
        for (const deliver of held.splice(0, EVENTS_AT_ONCE)) deliver();
        await service.invoker.idle();
      }
      await service.invoker.idle();
    },
    async close() {
      await service.close();
      admin.close();
      await rm(dataDir, { recursive: true, force: true });
      service.front.faults.assertApplied();
      if (!mayLackGrants) requireGrants(logs);
      if (!mayBreakApi) requireDocumented(undocumented);
    },
  };
}

/**
 * How many held events are delivered at once. It is less than the concurrency of the function that handles them. An event that is
 * throttled comes back after a second at first, and after five minutes in the end. So hundreds of events that are delivered at once
 * would take an hour.
 */
const EVENTS_AT_ONCE = 10;

/** Rate limits that no test reaches. */
const HIGH_RATE_LIMITS: Partial<Record<LimitName, string>> = {
  RATE_LIMIT_LISTS_PER_MINUTE: '10000',
  RATE_LIMIT_LOGIN_STARTS_PER_MINUTE: '10000',
  RATE_LIMIT_REQUESTS_PER_MINUTE: '10000',
  RATE_LIMIT_UPLOADS_PER_MINUTE: '10000',
};

let shared: Promise<TestService> | undefined;

/**
 * The service that all test files of this process share, one file after the other. It starts only once, because a start and the first
 * request of each function take seconds. Its rate limits are high, all other limits are the defaults. A file makes accounts of its own, and
 * expects nothing of other accounts. At its end it gives the service back by `close`, which removes the faults that the file added. The
 * service ends with the process.
 */
export async function borrowTestService(): Promise<TestService> {
  shared ??= startTestService(HIGH_RATE_LIMITS);
  const service = await shared;
  service.logs.length = 0;
  return {
    ...service,
    async close() {
      await service.deliverEvents();
      try {
        service.front.faults.assertApplied();
        requireGrants(service.logs);
        requireDocumented(service.undocumented.splice(0));
      } finally {
        service.front.faults.clear();
      }
    },
  };
}

/** @throws Error when a call was refused because the template gives no grant for it. */
function requireGrants(logs: readonly string[]): void {
  const denied = logs.filter((line) => /^\S+ AccessDenied: /.test(line));
  if (denied.length > 0) throw new Error(`calls lacked a grant:\n${denied.join('\n')}`);
}

/** @throws Error when an answer, or a request that was accepted, departed from the OpenAPI document. */
function requireDocumented(undocumented: readonly string[]): void {
  if (undocumented.length > 0)
    throw new Error(`requests or answers depart from the OpenAPI document:\n${[...new Set(undocumented)].join('\n')}`);
}

async function logInAndCreateKey({ urls }: LocalService, email: string): Promise<Credentials> {
  const { cookies: cookie, location } = await logIn({ startUrl: `${urls.base_url}/auth/google`, email });
  const made = await client(urls.base_url, { cookie }).postJson<{ key: string }>('/api-keys', { name: 'test' });
  const { key } = made.body;
  if (key === undefined)
    throw new Error(`no key for ${email}, who was sent to ${location}: ${JSON.stringify(made.body)}`);
  // The same id as in GET /auth/me (test/contract/login.test.ts), without starting a function that most tests do not need.
  const id = accountIdOf(urls.identity_provider_url, subjectOf(email.toLowerCase()));
  return { id, email, cookie, key };
}

const clientsOf = ({ urls }: LocalService, { cookie, key }: Credentials) => ({
  bySession: client(urls.base_url, { cookie }),
  byKey: client(urls.base_url, { key }),
});

/** Reads the tables and the bucket, without requests to the service. */
function adminOf(service: LocalService) {
  const credentials = { accessKeyId: 'ADMIN', secretAccessKey: randomUUID() };
  const everything = { Version: '2012-10-17', Statement: [{ Effect: 'Allow' as const, Action: '*', Resource: '*' }] };
  service.front.addPrincipal({ ...credentials, name: 'admin', policies: [everything] });
  const common = { endpoint: service.front.endpoint, region: 'us-east-1', credentials };
  const [dynamoDb, s3] = [new DynamoDBClient(common), new S3Client({ ...common, forcePathStyle: true })];
  const variables = service.lambda.find('SweepFunction').variables;
  const upload = service.lambda.find('UploadFileFunction').variables;
  const all: Record<string, string | undefined> = { ...variables, ...upload };
  const tables = Object.fromEntries(
    Object.entries(TABLES).map(([name, { variable }]) => [name, all[variable]]),
  ) as Record<TableName, string>;
  return {
    dynamoDb,
    tables,
    async rowsOf(accountId: string) {
      const inPartition = (partition: string) =>
        paginateQuery(
          { client: dynamoDb },
          {
            TableName: tables.files,
            KeyConditionExpression: 'account_id = :partition',
            ExpressionAttributeValues: { ':partition': { S: partition } },
            ConsistentRead: true,
          },
        );
      const rows: Record<string, unknown>[] = [];
      for await (const { Items = [] } of inPartition(accountId)) {
        rows.push(...Items.filter(({ id }) => !id?.S?.startsWith('#')));
      }
      for await (const { Items = [] } of inPartition(`#tickets#${shardOf(accountId)}`)) {
        rows.push(...Items.filter(({ id }) => id?.S?.includes(accountId)));
      }
      return rows;
    },
    /** @param createdAt  when the account was created: it owns no older object. */
    async storedBytes(accountId: string, createdAt: number) {
      let bytes = 0;
      const Bucket = all.UPLOADS_BUCKET ?? '';
      for await (const { Contents = [] } of paginateListObjectsV2({ client: s3 }, { Bucket })) {
        for (const { Key, Size = 0, LastModified } of Contents) {
          // S3 tells the time in whole seconds.
          if (LastModified && LastModified.getTime() < createdAt - 1_000) continue;
          const head = await s3.send(new HeadObjectCommand({ Bucket, Key })).catch((error: unknown) => {
            // The object was deleted since it was listed.
            if (error instanceof NotFound) return undefined;
            throw error;
          });
          if (head?.Metadata?.file?.startsWith(accountId) || Key?.includes(accountId)) bytes += Size;
        }
      }
      return bytes;
    },
    close() {
      dynamoDb.destroy();
      s3.destroy();
    },
  };
}
