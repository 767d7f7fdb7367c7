import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { synthesize } from '../infra/local/synthesize.ts';
import { startEngine } from '../local-aws/dynamodb/engine.ts';
import { logIn } from '../local-aws/identity-provider/log-in.ts';
import { type LocalService, startService } from '../local-aws/service.ts';
import { CONFIGURABLE_LIMITS } from '../shared/contract/limits.ts';
import { type Client, client } from '../test/support/client.ts';

export interface BenchedService extends LocalService {
  /** An API key of an account without files. */
  readonly key: string;
  readonly byKey: Client;
}

/** The highest rate limits that can be set, so that benchmarks do not measure rejections. */
const UNLIMITED = Object.fromEntries(
  Object.entries(CONFIGURABLE_LIMITS).flatMap(([name, { max }]) =>
    name.startsWith('RATE_LIMIT') ? [[name, String(max)]] : [],
  ),
);

/** Runs a benchmark against a service that is started as `npm start` starts it, with a temporary data directory. */
export async function withLocalService<Result>(
  benchmark: (service: BenchedService) => Promise<Result>,
): Promise<Result> {
  const dataDir = await mkdtemp(join(tmpdir(), 'file-hosting-bench-'));
  const started: { close(): unknown }[] = [
    { close: () => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }) },
  ];
  try {
    const assembly = join(dataDir, 'cdk.out');
    const [engine] = await Promise.all([startEngine({ dataDir: join(dataDir, 'dynamodb') }), synthesize(assembly)]);
    started.push(engine);
    const dynamoDbEndpoint = engine.endpoint;
    const service = await startService({ assembly, dataDir, port: 0, dynamoDbEndpoint, environment: UNLIMITED });
    started.push(service);
    const key = await newKey(service);
    return await benchmark({ ...service, key, byKey: client(service.urls.base_url, { key }) });
  } finally {
    for (const part of started.reverse()) await part.close();
  }
}

/** Creates an account. @returns an API key of the account. */
export async function newKey({ urls }: LocalService): Promise<string> {
  const email = `${randomUUID()}@example.com`;
  const { cookies: cookie } = await logIn({ startUrl: `${urls.base_url}/auth/google`, email });
  const made = await client(urls.base_url, { cookie }).postJson<{ key: string }>('/api-keys', { name: 'bench' });
  return made.body.key;
}
