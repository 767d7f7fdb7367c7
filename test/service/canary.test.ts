import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeEach, expect, test } from 'vitest';
import type { Template } from '../../local-aws/service.ts';
import { valuesInLog } from '../support/alarms.ts';
import { operatorOf } from '../support/operator.ts';
import { borrowTestService, startTestService, type TestAccount } from '../support/service.ts';
import { resourcesOf } from '../support/synthesize-stage.ts';
import { withFault } from '../support/with-fault.ts';

/** Tests the canary on the local service. test/service/alarms.test.ts tests its alarm, and test/admin its key. */

const FIRST_QUARTER = '2026-01-01T00:10:00Z';
const LATER = '2026-01-01T00:15:00Z';

let account: TestAccount;
const service = await borrowTestService();
const operator = operatorOf(service);
beforeEach(async () => {
  account = await service.newAccount();
  await operator.putCanaryKey(account.key);
});
afterAll(async () => {
  operator.close();
  await service.close();
});

/** @returns the names of the steps that failed. */
async function run(time: string): Promise<string[]> {
  const { payload } = await service.invoke('CanaryFunction', { time });
  return JSON.parse(payload) as string[];
}

/** The lanes of the uploads in the log lines since `start`. */
const lanesSince = (start: number) =>
  valuesInLog(service.logs.slice(start)).flatMap(({ metric, dimensions }) =>
    metric === 'Uploads' ? String(dimensions.Lane) : [],
  );

test.each([
  ['by a form', LATER, ['inline']],
  ['through the streaming server as well in the first quarter of an hour', FIRST_QUARTER, ['inline', 'streaming']],
])('the canary uploads %s, and leaves nothing in the account', async (_what, time, lanes) => {
  const start = service.logs.length;
  expect(await run(time)).toEqual([]);
  await expect.poll(() => lanesSince(start).toSorted()).toEqual(lanes);
  const me = await account.bySession.request('GET', '/auth/me');
  expect(me.body).toMatchObject({ file_count: 0, storage_used_bytes: 0 });
});

test('the canary reports the steps that fail, and still runs the others', async () => {
  const match = { service: 's3', operation: 'PutObject' } as const;
  const start = service.logs.length;
  const failed = await withFault(service, { match, effect: 'error-before' }, () => run(LATER));
  expect(failed).toEqual(['form']);
  const later = () => service.logs.slice(start).filter((line) => /^ListFilesFunction .*"status":200/.test(line));
  await expect.poll(later).toHaveLength(1);
  const lines = service.logs.filter((line) => line.includes('canary step failed'));
  expect(lines.at(-1)).toMatch(/POST api: 503 .*service_unavailable.* \(request [\w-]+\)/);
});

/** Makes the gateway refuse every request to these routes, as it refuses requests above their throttles. */
const stopRoutes = (routes: readonly string[]) => (templates: Record<string, Template>) => {
  const [stage] = Object.values(templates).flatMap((template) => resourcesOf(template, 'AWS::ApiGateway::Stage'));
  const settings = stage?.Properties?.MethodSettings as object[];
  for (const route of routes) {
    const [HttpMethod, path = ''] = route.split(' ');
    settings.push({ HttpMethod, ResourcePath: `/${path.replaceAll('/', '~1')}`, ThrottlingRateLimit: 0 });
  }
};

test.each([
  {
    name: 'counts a refusal by the service itself as a failure, and one by the throttle of a route not',
    stopped: ['GET /health'],
    limits: { UPLOAD_BYTES_PER_DAY: '5' },
    failed: ['form'],
    unchecked: ['health'],
    metric: [1],
  },
  {
    name: 'counts no failure when other clients have used up the throttles of some routes',
    stopped: ['GET /health', 'POST /api/v1/files'],
    limits: {},
    failed: [],
    unchecked: ['health', 'form'],
    metric: [0],
  },
  {
    name: 'writes no metric when every step was refused by a throttle, so that its alarm starts',
    stopped: ['GET /health', 'POST /api/v1/files', 'GET /api/v1/files'],
    limits: {},
    failed: [],
    unchecked: ['health', 'form', 'list'],
    metric: [],
  },
])('the canary $name', async ({ stopped, limits, failed, unchecked, metric }) => {
  const flooded = await startTestService(limits, { mayBreakApi: true, edit: stopRoutes(stopped) });
  const admin = operatorOf(flooded);
  try {
    await admin.putCanaryKey((await flooded.newAccount()).key);
    const { payload } = await flooded.invoke('CanaryFunction', { time: LATER });
    expect(JSON.parse(payload)).toEqual(failed);
    const lines = flooded.logs.filter((line) => line.includes('canary step not checked') && line.includes('429'));
    expect(lines.map((line) => /"step":"(\w+)"/.exec(line)?.[1])).toEqual(unchecked);
    const measured = valuesInLog(flooded.logs).filter((value) => value.metric === 'CanaryFailures');
    expect(measured.map(({ value }) => value)).toEqual(metric);
  } finally {
    admin.close();
    await flooded.close();
  }
});

test('the canary deletes the file of a run that died, but not one that another run is still working with', async () => {
  const [left, recent] = [await account.byKey.upload('left', 'a'), await account.byKey.upload('recent', 'a')];
  await operator.dynamoDb.send(
    new UpdateItemCommand({
      TableName: service.tables.files,
      Key: { account_id: { S: account.id }, id: { S: String(left.body.id) } },
      UpdateExpression: 'SET created_at = :past',
      ExpressionAttributeValues: { ':past': { N: String(Date.now() - 6 * 60_000) } },
    }),
  );
  expect(await run(LATER)).toEqual([]);
  const { body } = await account.byKey.request<{ items: { id: string }[] }>('GET', '/files');
  expect(body.items?.map(({ id }) => id)).toEqual([recent.body.id]);
});
