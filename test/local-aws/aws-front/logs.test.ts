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
import { sha256Hex, signRequest } from '../../../local-aws/aws-front/signature.ts';
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

test('events are written to a stream of a group one by one, and found by a query', async () => {
  const stream = { logGroupName: 'app-other', logStreamName: 's' };
  const logEvents = [{ timestamp: NOW, message: '{"a":1}' }];
  expect(await failureOf(logs.send(new PutLogEventsCommand({ ...stream, logEvents })))).toMatchObject({
    name: 'ResourceNotFoundException',
  });
  await logs.send(new CreateLogStreamCommand(stream));
  expect(await failureOf(logs.send(new CreateLogStreamCommand(stream)))).toMatchObject({
    name: 'ResourceAlreadyExistsException',
  });
  const two = [...logEvents, ...logEvents];
  expect(await failureOf(logs.send(new PutLogEventsCommand({ ...stream, logEvents: two })))).toMatchObject({
    name: 'InvalidParameterException',
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

describe('STS', () => {
  test('says who a caller is', async () => {
    const sts = new STSClient({ ...config, credentials: READER });
    expect(await sts.send(new GetCallerIdentityCommand({}))).toMatchObject({
      Account: ACCOUNT.accountId,
      Arn: `arn:aws:sts::${ACCOUNT.accountId}:assumed-role/reader/reader`,
    });
  });

  const { host } = new URL(front.endpoint);
  const send = async (form: string, { now = new Date(), signed = true, authorization = '' } = {}) => {
    const request = { method: 'POST', url: '/', headers: { host }, payloadHash: sha256Hex(form) };
    const signature = signed ? await signRequest(request, ADMIN, { ...ACCOUNT, service: 'sts', now }) : {};
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      ...signature,
      ...(authorization && { authorization }),
    };
    const answer = await fetch(front.endpoint, { method: 'POST', headers, body: form });
    return [answer.status, await answer.text()] as const;
  };
  const FORM = 'Action=GetCallerIdentity&Version=2011-06-15';
  const scope = `Credential=${ADMIN.accessKeyId}/20260101/us-east-1/sts/aws4_request`;

  test.each<[string, () => ReturnType<typeof send>, number, string]>([
    ['that is too old', () => send(FORM, { now: new Date(NOW - 3_600_000) }), 403, 'SignatureDoesNotMatch'],
    ['without a signature', () => send(FORM, { signed: false }), 403, 'MissingAuthenticationToken'],
    [
      'with half a signature',
      () => send(FORM, { authorization: `AWS4-HMAC-SHA256 ${scope}, SignedHeaders=host` }),
      400,
      'IncompleteSignature',
    ],
    ['of another operation', () => send('Action=<GetSessionToken>'), 400, 'InvalidAction'],
  ])('refuses a request %s by its name on AWS', async (_name, answer, status, code) => {
    const [answered, body] = await answer();
    const error = `<Error><Type>Sender</Type><Code>${code}</Code><Message>[^<>]+</Message></Error><RequestId>`;
    expect([answered, body]).toEqual([status, expect.stringMatching(error)]);
    expect(body).toContain('<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">');
  });

  test.each([
    ['throttle', { name: 'Throttling', status: 400 }],
    ['error-before', { name: 'InternalFailure', status: 500 }],
  ] as const)('answers the fault %s as on AWS', async (effect, failure) => {
    const { remove } = front.faults.add({ match: { service: 'sts' }, effect });
    const sts = new STSClient({ ...config, credentials: ADMIN });
    expect(await failureOf(sts.send(new GetCallerIdentityCommand()))).toEqual(failure);
    remove();
  });
});
