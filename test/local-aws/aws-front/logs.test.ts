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
import { fieldsOf, parseQuery } from '../../../local-aws/logs/parse-query.ts';
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
const LINES = [
  { status: 200, route: 'a', bytes: 10, who: { id: 'x' } },
  { status: 404, route: 'a', bytes: 5, code: 'not_found' },
  { status: 403, route: 'b', code: 'no "room"' },
];
for (const [index, line] of LINES.entries()) {
  // Lambda begins a line of `console.log` with a time and a request id.
  logGroups.append('app-requests', `2026-11-22T03:00:00Z\tid\tINFO\t${JSON.stringify(line)}`, {
    timestamp: NOW + index,
  });
}
logGroups.append('app-requests', 'START RequestId: 7', { timestamp: NOW - 3_600_000 });

async function query(queryString: string, { group = 'app-requests', seconds = 60 } = {}) {
  const now = Math.floor(NOW / 1_000);
  const times = { startTime: now - seconds, endTime: now + 10 };
  const { queryId } = await logs.send(new StartQueryCommand({ logGroupNames: [group], queryString, ...times }));
  const first = await logs.send(new GetQueryResultsCommand({ queryId }));
  expect(first).toMatchObject({ status: 'Running', results: [] });
  const { results = [] } = await logs.send(new GetQueryResultsCommand({ queryId }));
  return results.map((row) => Object.fromEntries(row.map(({ field, value }) => [field, value])));
}

describe('a query of the logs', () => {
  test.for<[string, string, Record<string, string>[]]>([
    [
      'shows fields, and filters by a number',
      'fields route, status | filter status >= 400',
      [
        { route: 'b', status: '403' },
        { route: 'a', status: '404' },
      ],
    ],
    ['filters by a whole text', 'fields route | filter code = "not_found"', [{ route: 'a' }]],
    ['filters by a regular expression', 'fields route | filter code like /ROOM/i', [{ route: 'b' }]],
    ['filters by a part of the line', 'fields route | filter @message like "not_f"', [{ route: 'a' }]],
    ['matches a text in quotes literally, not as a pattern', 'fields route | filter @message like "n.t_f"', []],
    [
      'filters by and, or, not, in and ispresent',
      'fields `who.id` | filter ispresent(who.id) and not (status != 200 or route in ["b"])',
      [{ 'who.id': 'x' }],
    ],
    [
      'sorts its rows, and shows at most as many as its limit',
      'fields status | filter code not like "room" | sort status asc | limit 1',
      [{ status: '200' }],
    ],
    [
      'counts and adds up by a field',
      'filter ispresent(route) | stats count(*) as n, sum(bytes) as sum, max(bytes) as most by route | sort n desc',
      [
        { route: 'a', n: '2', sum: '15', most: '10' },
        { route: 'b', n: '1', sum: '', most: '' },
      ],
    ],
    ['finds the latest value of a field', 'stats latest(route) as last', [{ last: 'b' }]],
  ])('%s', async ([, text, expected]) => {
    expect(await query(text)).toEqual(expected);
  });

  test('reads only the events of its time range, and returns time and message by default', async () => {
    expect(await query('filter @message like "START"')).toEqual([]);
    expect(await query('filter @message like "START"', { seconds: 7_200 })).toEqual([
      { '@timestamp': expect.stringMatching(/^\d{4}-\d\d-\d\d [\d:.]+$/), '@message': 'START RequestId: 7' },
    ]);
  });

  test.for(['filter', 'find x', 'filter status ~ 3', 'fields x-y', 'filter (a = 1', 'stats median(x)', 'filter a = b'])(
    'is refused when it is malformed: %s',
    async (text) => {
      expect(await failureOf(query(text))).toEqual({ name: 'MalformedQueryException', status: 400 });
    },
  );

  test('is refused without permission, and for a group that does not exist', async () => {
    const reader = new CloudWatchLogsClient({ ...config, credentials: READER });
    const start = (group: string) =>
      reader.send(new StartQueryCommand({ logGroupNames: [group], queryString: 'limit 1', startTime: 0, endTime: 1 }));
    expect(await failureOf(start('app-requests'))).toEqual({ name: 'AccessDeniedException', status: 400 });
    const { queryId } = await start('app-other');
    const statuses = [];
    for (let n = 0; n < 2; n += 1) statuses.push((await logs.send(new GetQueryResultsCommand({ queryId }))).status);
    expect(statuses).toEqual(['Running', 'Complete']);
    expect(await failureOf(query('limit 1', { group: 'none' }))).toMatchObject({ name: 'ResourceNotFoundException' });
  });

  test('has a list of the fields that it reads, without those that it computes', () => {
    const text = 'filter a = 1 and not (b like "x") | stats sum(c) as d, count(*) as n by e | sort d desc | limit 3';
    expect(fieldsOf(parseQuery(text))).toEqual(['a', 'b', 'c', 'e']);
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
  expect(await query('fields a, @logStream', { group: 'app-other' })).toEqual([{ a: '1', '@logStream': 's' }]);
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
