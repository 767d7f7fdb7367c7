import {
  CloudWatchLogsClient,
  CreateLogStreamCommand,
  DescribeLogGroupsCommand,
  GetQueryResultsCommand,
  PutLogEventsCommand,
  PutRetentionPolicyCommand,
  StartQueryCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { describe, expect, test } from 'vitest';
import { LogGroups } from '../../../local-aws/logs/log-groups.ts';
import { ACCOUNT, ADMIN, allow, failureOf, frontOfFile, principal } from './front.ts';

const logGroups = new LogGroups(['app-requests', 'app-other']);
const READER = principal(
  'reader',
  allow('logs:StartQuery', 'arn:aws:logs:us-east-1:000000000000:log-group:app-other:*'),
);
const front = await frontOfFile({ logGroups, principals: [READER] });
const config = { endpoint: front.endpoint, region: ACCOUNT.region, maxAttempts: 1 };
const logs = new CloudWatchLogsClient({ ...config, credentials: ADMIN });

const NOW = Date.now();
for (const [index, line] of ['{"route":"a","id":"x.y"}', '{"route":"b","id":"xzy"}', '{"id":"x.y"}'].entries()) {
  logGroups.append('app-requests', line, { timestamp: NOW + index });
}
logGroups.append('app-requests', 'START RequestId: 7', { timestamp: NOW - 3_600_000 });

const queryOf = (texts: readonly string[], limit = 10) =>
  [
    'fields @timestamp, @message',
    ...texts.map((text) => `filter @message like "${text}"`),
    'sort @timestamp desc',
    `limit ${limit}`,
  ].join(' | ');

/** Runs a query. @returns the fields of the rows, without `@ptr`, which every row has. */
async function run(queryString: string, { group = 'app-requests', seconds = 60 } = {}) {
  const now = Math.floor(NOW / 1_000);
  const times = { startTime: now - seconds, endTime: now + 10 };
  const { queryId } = await logs.send(new StartQueryCommand({ logGroupNames: [group], queryString, ...times }));
  const first = await logs.send(new GetQueryResultsCommand({ queryId }));
  expect(first).toMatchObject({ status: 'Running', results: [] });
  const { results = [] } = await logs.send(new GetQueryResultsCommand({ queryId }));
  return results.map((row) => {
    const { '@ptr': pointer, ...fields } = Object.fromEntries(row.map(({ field = '', value }) => [field, value]));
    expect(pointer).toEqual(expect.any(String));
    return fields;
  });
}
const messagesOf = async (...args: Parameters<typeof run>) =>
  (await run(...args)).map(({ '@message': message }) => message);

describe('a query of the logs', () => {
  test('finds the lines that contain all texts, as they are, and shows the newest first', async () => {
    expect(await messagesOf(queryOf(['x.y']))).toEqual(['{"id":"x.y"}', '{"route":"a","id":"x.y"}']);
    expect(await messagesOf(queryOf(['x.y', 'route']))).toEqual(['{"route":"a","id":"x.y"}']);
    expect(await messagesOf(queryOf([], 1))).toEqual(['{"id":"x.y"}']);
  });

  test('reads only the events of its time range', async () => {
    expect(await run(queryOf(['START']))).toEqual([]);
    expect(await run(queryOf(['START']), { seconds: 7_200 })).toEqual([
      { '@timestamp': expect.stringMatching(/^\d{4}-\d\d-\d\d [\d:.]+$/), '@message': 'START RequestId: 7' },
    ]);
  });

  test.for(['', 'limit 1', queryOf(['a" or @message like "b']), `${queryOf([])} | stats count(*)`])(
    'is refused when it has another form: %s',
    async (text) => {
      expect(await failureOf(run(text))).toEqual({ name: 'MalformedQueryException', status: 400 });
    },
  );

  test('is refused without permission, and for a group that does not exist', async () => {
    const reader = new CloudWatchLogsClient({ ...config, credentials: READER });
    const start = (group: string) =>
      reader.send(
        new StartQueryCommand({ logGroupNames: [group], queryString: queryOf([]), startTime: 0, endTime: 1 }),
      );
    expect(await failureOf(start('app-requests'))).toEqual({ name: 'AccessDeniedException', status: 400 });
    const { queryId } = await start('app-other');
    const statuses = [];
    for (let n = 0; n < 2; n += 1) statuses.push((await logs.send(new GetQueryResultsCommand({ queryId }))).status);
    expect(statuses).toEqual(['Running', 'Complete']);
    expect(await failureOf(run(queryOf([]), { group: 'none' }))).toMatchObject({ name: 'ResourceNotFoundException' });
  });
});

test('events are written to a stream of a group, and found by a query', async () => {
  const stream = { logGroupName: 'app-other', logStreamName: 's' };
  const logEvents = [{ timestamp: NOW, message: '{"a":1}' }];
  expect(await failureOf(logs.send(new PutLogEventsCommand({ ...stream, logEvents })))).toMatchObject({
    name: 'ResourceNotFoundException',
  });
  await logs.send(new CreateLogStreamCommand(stream));
  expect(await failureOf(logs.send(new CreateLogStreamCommand(stream)))).toMatchObject({
    name: 'ResourceAlreadyExistsException',
  });
  await logs.send(new PutLogEventsCommand({ ...stream, logEvents }));
  expect(await messagesOf(queryOf(['a']), { group: 'app-other' })).toEqual(['{"a":1}']);
});

test('log groups are listed by the beginning of their names', async () => {
  const { logGroups: found = [] } = await logs.send(new DescribeLogGroupsCommand({ logGroupNamePrefix: 'app-r' }));
  expect(found.map(({ logGroupName }) => logGroupName)).toEqual(['app-requests']);
});

test('an operation of the logs that the local AWS does not know is refused', async () => {
  const command = new PutRetentionPolicyCommand({ logGroupName: 'app-other', retentionInDays: 1 });
  expect(await failureOf(logs.send(command))).toMatchObject({ name: 'UnknownOperationException' });
});

test('STS says who a caller is', async () => {
  const sts = new STSClient({ ...config, credentials: READER });
  expect(await sts.send(new GetCallerIdentityCommand({}))).toMatchObject({
    Account: ACCOUNT.accountId,
    Arn: `arn:aws:sts::${ACCOUNT.accountId}:assumed-role/reader/reader`,
  });
});
