import { randomUUID } from 'node:crypto';
import { engineClient } from '../local-aws/dynamodb/engine-client.ts';
import { logIn } from '../local-aws/identity-provider/log-in.ts';
import type { TableName } from '../shared/tables.ts';
import { client } from '../test/support/client.ts';
import { generateFiles } from '../test/support/generated-files.ts';
import { type BenchedService, withLocalService } from './local-service.ts';
import { type Measurement, median } from './measurement.ts';
import { FILE_COUNTS, GROWING, growthMetric } from './results.ts';

const RUNS = 9;
const LIMIT = 50;
/** In an account with more files than this, only the files that are read have rows: writing a million rows would take half an hour. */
const ALL_ROWS_MAX = 10_000;

/**
 * Measures the time and the read units of a page of the list and of a search in accounts of growing size. The search finds every
 * thousandth file, at least one.
 */
export function benchGrowth(): Promise<Measurement[]> {
  return withLocalService(async (service) => {
    const measurements: Measurement[] = [];
    for (const count of FILE_COUNTS) measurements.push(...(await benchAccount(service, count)));
    return measurements;
  });
}

async function benchAccount(service: BenchedService, count: number): Promise<Measurement[]> {
  const list = await accountWith(service, count);
  const queries = {
    'first page': `limit=${LIMIT}`,
    'last page': `limit=${LIMIT}&page=${count / LIMIT}`,
    'search for a few files': `limit=${LIMIT}&search=RARE`,
  } as const;
  const measurements: Measurement[] = [];
  for (const what of GROWING) {
    const times: number[] = [];
    let units = 0;
    for (let run = 0; run <= RUNS; run++) {
      const [mark, start] = [service.front.meter.mark(), performance.now()];
      await list(queries[what], what === 'search for a few files' ? Math.max(1, count / 1_000) : count);
      // The first request of an account also creates the row of its rate limit.
      if (run > 0) times.push(performance.now() - start);
      units = service.front.meter.since(mark).readUnits;
    }
    const metric = growthMetric(what, count);
    measurements.push({ metric, value: median(times), unit: 'ms' });
    measurements.push({ metric: `${metric}: read units`, value: units, unit: 'read units' });
  }
  return measurements;
}

/** Creates an account with files. @returns a request for a page of them, which checks the total. */
async function accountWith(service: BenchedService, count: number) {
  const email = `${randomUUID()}@example.com`;
  const { cookies: cookie } = await logIn({ startUrl: `${service.urls.base_url}/auth/google`, email });
  const bySession = client(service.urls.base_url, { cookie });
  const { body } = await bySession.request<{ id: string }>('GET', '/auth/me');
  const isRare = (seq: number) => seq % 1_000 === 7;
  const { variables } = service.lambda.find('ListFilesFunction');
  const tables = { accounts: variables.ACCOUNTS_TABLE, files: variables.FILES_TABLE } as Record<TableName, string>;
  const engine = engineClient(service.dynamoDbEndpoint);
  await generateFiles(engine, tables, {
    accountId: body.id,
    count,
    nameOf: (seq) => `${isRare(seq) ? 'Rare' : 'Holiday'} photo number ${seq}.jpeg`,
    hasRow: ({ seq }) => count <= ALL_ROWS_MAX || isRare(seq) || seq < 2 * LIMIT || seq >= count - 2 * LIMIT,
  });
  engine.destroy();
  return async (query: string, total: number) => {
    const answer = await bySession.request<{ total: number; items: unknown[] }>('GET', `/files?${query}`);
    const isRight = answer.status === 200 && answer.body.total === total;
    if (!isRight || answer.body.items.length !== Math.min(total, LIMIT)) {
      throw new Error(`${query} was answered ${answer.status} with ${answer.body.total} of ${total} files`);
    }
  };
}
