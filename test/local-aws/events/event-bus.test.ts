import { randomUUID } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createAsyncInvoker, readInvokeConfigs } from '../../../local-aws/events/async-invoker.ts';
import { createEventBus, readRules } from '../../../local-aws/events/event-bus.ts';
import { openEventQueue } from '../../../local-aws/events/event-queue.ts';
import { readFunctions } from '../../../local-aws/lambda/function-config.ts';
import { createLambdaService, readPermissions } from '../../../local-aws/lambda/lambda-service.ts';
import { ACCOUNT, deploy, lambdaFunction } from '../assembly-fixture.ts';
import { temporaryDirectory } from '../aws-front/front.ts';

const DIRECTORY = temporaryDirectory();
const newDirectory = () => join(DIRECTORY, randomUUID());

const closers: (() => unknown)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const close of closers.splice(0)) await close();
});

/** Writes each event to its log as one line, and fails as often as the key of the object says: `fails-2` fails twice. */
const CODE = `let failures = 0; exports.handler = async (event) => {
  process.stdout.write('got ' + JSON.stringify(event) + '\\n');
  if (process.env.HANGS && /hangs/.test(JSON.stringify(event))) await new Promise(() => {});
  if (failures++ < Number(/fails-(\\d)/.exec(JSON.stringify(event))?.[1] ?? 0)) throw new Error('not yet');
}`;

const rule = (properties: Record<string, unknown>) => ({
  Type: 'AWS::Events::Rule',
  Properties: { State: 'ENABLED', Targets: [{ Id: 'Target0', Arn: { 'Fn::GetAtt': ['F', 'Arn'] } }], ...properties },
});
const permissionOf = (ruleName: string) => ({
  Type: 'AWS::Lambda::Permission',
  Properties: {
    Action: 'lambda:InvokeFunction',
    FunctionName: { 'Fn::GetAtt': ['F', 'Arn'] },
    Principal: 'events.amazonaws.com',
    SourceArn: { 'Fn::GetAtt': [ruleName, 'Arn'] },
  },
});
const ARRIVED = rule({
  EventPattern: {
    source: ['aws.s3'],
    'detail-type': ['Object Created'],
    detail: { bucket: { name: ['uploads'] }, object: { key: [{ prefix: 'incoming/' }] } },
  },
});
const MINUTELY = rule({ ScheduleExpression: 'rate(1 minute)' });
const ALL = {
  Arrived: ARRIVED,
  Minutely: MINUTELY,
  ArrivedPermission: permissionOf('Arrived'),
  MinutelyPermission: permissionOf('Minutely'),
};

async function busWith(
  resources: Parameters<typeof deploy>[0] = ALL,
  {
    isClockRunning = false,
    bucketsWithEvents = ['uploads', 'other'],
    directory = newDirectory(),
    retryDelaysMs = [0, 0],
  } = {},
) {
  const deployment = await deploy({ F: lambdaFunction('code'), ...resources }, { code: { 'index.js': CODE } });
  const log: string[] = [];
  const onLog = ({ line }: { line: string }) => log.push(line);
  const lambda = createLambdaService({
    functions: readFunctions(deployment),
    mayInvoke: readPermissions(deployment),
    surroundings: { region: ACCOUNT.region, awsEndpoint: '' },
    onLog,
  });
  const configs = readInvokeConfigs(deployment);
  const queue = openEventQueue(directory);
  const invoker = createAsyncInvoker({ lambda, configs, queue, onLog, retryDelaysMs });
  const bus = createEventBus({
    rules: readRules(deployment),
    bucketsWithEvents: new Set(bucketsWithEvents),
    invoker,
    account: ACCOUNT,
    isClockRunning,
  });
  closers.push(
    () => bus.close(),
    () => invoker.close(),
    () => lambda.close(),
  );
  /** The events that the function got. Waits until none is being delivered. */
  const received = async () => {
    await invoker.idle();
    // A line may come through a little later than the result.
    await lambda.invoke({ functionArn: lambda.find('F').arn, payload: '"last"' });
    await expect.poll(() => log).toContain('got "last"');
    return log.filter((line) => line.startsWith('got {')).map((line) => JSON.parse(line.slice(4)));
  };
  return { bus, invoker, lambda, log, received };
}

const created = (key: string, bucket = 'uploads') => ({
  bucket,
  key,
  size: 5,
  etag: 'abc',
  reason: 'PutObject' as const,
});

describe('a new object', () => {
  test("an object that matches a rule reaches its function as EventBridge's event", async () => {
    const { bus, received } = await busWith();
    bus.objectCreated(created('incoming/ü b'));
    expect(await received()).toEqual([
      {
        version: '0',
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        'detail-type': 'Object Created',
        source: 'aws.s3',
        account: '111122223333',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        region: 'eu-west-1',
        resources: ['arn:aws:s3:::uploads'],
        detail: {
          version: '0',
          bucket: { name: 'uploads' },
          object: { key: 'incoming/ü b', size: 5, etag: 'abc', sequencer: expect.stringMatching(/^[0-9A-F]{18}$/) },
          'request-id': expect.stringMatching(/^[0-9A-F]{16}$/),
          requester: '111122223333',
          'source-ip-address': '127.0.0.1',
          reason: 'PutObject',
        },
      },
    ]);
  });

  test.each([
    ['under another prefix', created('uploads/a')],
    ['in another bucket', created('incoming/a', 'other')],
  ])('%s reaches no function', async (_name, object) => {
    const { bus, received } = await busWith();
    bus.objectCreated(object);
    expect(await received()).toEqual([]);
  });

  test('a new object in a bucket without EventBridge events reaches no function', async () => {
    const { bus, received } = await busWith(ALL, { bucketsWithEvents: [] });
    bus.objectCreated(created('incoming/a'));
    expect(await received()).toEqual([]);
  });

  test('reaches no function when the rule is disabled', async () => {
    const Disabled = { ...ARRIVED, Properties: { ...ARRIVED.Properties, State: 'DISABLED' } };
    const { bus, received } = await busWith({ ...ALL, Arrived: Disabled });
    bus.objectCreated(created('incoming/a'));
    expect(await received()).toEqual([]);
  });

  test('the events of two new objects can come twice and in another order, as from EventBridge', async () => {
    const { bus, received } = await busWith();
    const held: (() => void)[] = [];
    bus.deliverBy((deliver) => held.push(deliver, deliver));
    bus.objectCreated(created('incoming/1'));
    bus.objectCreated(created('incoming/2'));
    expect(await received()).toEqual([]);
    for (const deliver of held.reverse()) deliver();
    const keys = (await received()).map((event) => event.detail.object.key);
    expect(keys.sort()).toEqual(['incoming/1', 'incoming/1', 'incoming/2', 'incoming/2']);
  });
});

describe('an event that its function does not handle', () => {
  test('is delivered two more times', async () => {
    const { bus, received, invoker } = await busWith();
    bus.objectCreated(created('incoming/fails-2'));
    expect(await received()).toHaveLength(3);
    expect(invoker.failed).toEqual([]);
  });

  test('becomes a failed event when the last retry fails', async () => {
    const { bus, received, invoker, lambda, log } = await busWith();
    bus.objectCreated(created('incoming/fails-3'));
    expect(await received()).toHaveLength(3);
    expect(invoker.failed).toMatchObject([{ functionArn: lambda.find('F').arn, attempts: 3 }]);
    expect(invoker.failed[0]?.failure).toContain('not yet');
    expect(log.join()).toContain('gave up on event');
  });

  test('is retried as often as the template says, and the failed event names the destination', async () => {
    const config = {
      Type: 'AWS::Lambda::EventInvokeConfig',
      Properties: {
        FunctionName: { Ref: 'F' },
        Qualifier: '$LATEST',
        MaximumRetryAttempts: 0,
        DestinationConfig: { OnFailure: { Destination: 'arn:aws:sqs:eu-west-1:111122223333:dead' } },
      },
    };
    const { bus, received, invoker } = await busWith({ ...ALL, Config: config });
    bus.objectCreated(created('incoming/fails-3'));
    expect(await received()).toHaveLength(1);
    expect(invoker.failed).toMatchObject([{ attempts: 1, destination: 'arn:aws:sqs:eu-west-1:111122223333:dead' }]);
  });

  test('is delivered later when the function is throttled, which does not count as a try', async () => {
    const F = lambdaFunction('code', { ReservedConcurrentExecutions: 1 });
    const config = {
      Type: 'AWS::Lambda::EventInvokeConfig',
      Properties: { FunctionName: { Ref: 'F' }, Qualifier: '$LATEST', MaximumRetryAttempts: 0 },
    };
    const { bus, received, invoker } = await busWith({ ...ALL, F, Config: config });
    for (const name of ['a', 'b', 'c']) bus.objectCreated(created(`incoming/${name}`));
    expect(await received()).toHaveLength(3);
    expect(invoker.failed).toEqual([]);
  });

  test('is given up when the function is throttled until the event is too old', async () => {
    const F = lambdaFunction('code', { ReservedConcurrentExecutions: 0 });
    const config = {
      Type: 'AWS::Lambda::EventInvokeConfig',
      Properties: { FunctionName: { Ref: 'F' }, Qualifier: '$LATEST', MaximumEventAgeInSeconds: 2 },
    };
    const { bus, invoker } = await busWith({ ...ALL, F, Config: config });
    bus.objectCreated(created('incoming/a'));
    await invoker.idle();
    expect(invoker.failed).toMatchObject([{ attempts: 0, failure: 'the event is too old' }]);
  });

  test('does not reach a function that EventBridge may not invoke', async () => {
    const { ArrivedPermission: _removed, ...rest } = ALL;
    const { bus, received, invoker } = await busWith(rest);
    bus.objectCreated(created('incoming/a'));
    expect(await received()).toEqual([]);
    expect(invoker.failed).toMatchObject([{ attempts: 1, failure: expect.stringContaining('AccessDenied') }]);
  });
});

describe('an event that was not handled when its process ended', () => {
  type Bus = Awaited<ReturnType<typeof busWith>>;

  test.each<[string, string, RegExp, (bus: Bus) => unknown]>([
    ['killed', 'hangs', /got {/, () => {}],
    ['closed in the middle of a try', 'hangs', /got {/, ({ invoker, lambda }) => [invoker.close(), lambda.close()]],
    ['closed before the next try', 'fails-1', /ERROR/, ({ invoker }) => invoker.close()],
  ])('is delivered by the next process: %s', async (_, name, line, end) => {
    const directory = newDirectory();
    const F = lambdaFunction('code', { Environment: { Variables: { HANGS: 'yes' } } });
    const before = await busWith({ ...ALL, F }, { directory, retryDelaysMs: [3_600_000] });
    before.bus.objectCreated(created(`incoming/${name}`));
    await expect.poll(() => before.log.join()).toMatch(line);
    await end(before);
    // Half an event, of a process that died while it wrote it, and an event for a function that is no more.
    await writeFile(join(directory, 'half'), '{"requestId":"ha');
    const gone = { requestId: 'gone', functionArn: 'arn:gone', payload: '{}', invoker: { principal: 'x' } };
    await writeFile(join(directory, 'gone'), JSON.stringify(gone));

    const after = await busWith(ALL, { directory });
    after.invoker.resume();
    expect((await after.received()).at(-1)).toMatchObject({ detail: { object: { key: `incoming/${name}` } } });
    expect(await readdir(directory)).toEqual([]);
  });
});

describe('a schedule', () => {
  const scheduled = {
    'detail-type': 'Scheduled Event',
    source: 'aws.events',
    resources: [expect.stringMatching(/^arn:aws:events:eu-west-1:111122223333:rule\/Stack-Minutely-/)],
    detail: {},
  };

  test('is run by runSchedules', async () => {
    const { bus, received } = await busWith();
    bus.runSchedules();
    bus.runSchedules('Minutely');
    expect(await received()).toMatchObject([scheduled, scheduled]);
    expect(() => bus.runSchedules('Arrived')).toThrow('there is no scheduled rule Arrived');
  });

  test('gives each target of the rule its own input, if it has one', async () => {
    const target = { Id: 'T', Arn: { 'Fn::GetAtt': ['F', 'Arn'] } };
    const Targets = [0, 1].map((part) => ({ ...target, Id: `T${part}`, Input: JSON.stringify({ part }) }));
    const minutely = rule({ ScheduleExpression: 'rate(1 minute)', Targets });
    const { bus, received } = await busWith({ Minutely: minutely, Allowed: permissionOf('Minutely') });
    bus.runSchedules();
    expect((await received()).toSorted((one, other) => one.part - other.part)).toEqual([{ part: 0 }, { part: 1 }]);
  });

  test('is run by the clock', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { received } = await busWith(ALL, { isClockRunning: true });
    vi.advanceTimersByTime(59_999);
    expect(await received()).toEqual([]);
    vi.advanceTimersByTime(60_001);
    vi.useRealTimers();
    expect(await received()).toHaveLength(2);
  });
});

test.each([
  ['rate(1 minute)', 60],
  ['rate(5 minutes)', 300],
  ['rate(2 hours)', 7_200],
  ['rate(1 day)', 86_400],
])('a schedule of %s runs every %i seconds', async (ScheduleExpression, seconds) => {
  const rules = readRules(await deploy({ F: lambdaFunction('code'), R: rule({ ScheduleExpression }) }, { code: {} }));
  expect(rules[0]?.everySeconds).toBe(seconds);
});

test.each([
  ['a schedule of cron(…)', { ScheduleExpression: 'cron(0 1 * * ? *)' }, 'does not know "cron(0 1 * * ? *)"'],
  ['a queue as its target', { Targets: [{ Id: 'T', Arn: 'arn:aws:sqs:eu-west-1:1:queue' }] }, 'is not a function'],
  ['a bus of its own', { EventBusName: 'mine' }, 'does not implement EventBusName'],
])('a rule with %s is an error at the start', async (_name, properties, message) => {
  const deployment = await deploy({ F: lambdaFunction('code'), R: rule(properties) }, { code: {} });
  expect(() => readRules(deployment)).toThrow(message);
});
