import { expect, test } from 'vitest';
import { askForTicket, put } from '../../support/lanes.ts';
import { startTestService } from '../../support/service.ts';
import { onlySynthesized, synthesized } from '../../support/synthesized.ts';
import { withFault } from '../../support/with-fault.ts';

const QUEUE = 'AWS::SQS::Queue';

async function withId(type: string, start: string) {
  const found = (await synthesized('Api', type)).find(({ logicalId }) => logicalId.startsWith(start));
  if (!found) throw new Error(`no ${type} begins with ${start}`);
  return found;
}

test.each([
  // Six hours, as long as Lambda keeps it, or as long as the longest ticket: here the room of one for 100 MiB.
  ['SettleUpload', { MaximumRetryAttempts: 2, MaximumEventAgeInSeconds: 20 * 60 + 6_400 }],
  // The next sweep comes in a minute.
  ['Sweep', { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 }],
])('an event that %s fails at is tried as long as it is worth it, then goes to the queue', async (name, tries) => {
  const queue = await onlySynthesized('Api', QUEUE);
  const fn = await withId('AWS::Lambda::Function', `${name}Function`);
  const config = await withId('AWS::Lambda::EventInvokeConfig', `${name}Function`);
  expect(config.Properties).toEqual({
    ...tries,
    FunctionName: { Ref: fn.logicalId },
    Qualifier: '$LATEST',
    DestinationConfig: { OnFailure: { Destination: { 'Fn::GetAtt': [queue.logicalId, 'Arn'] } } },
  });
});

test('the queue of failed events is encrypted, open to TLS alone, and keeps them for 14 days', async () => {
  const queue = await onlySynthesized('Api', QUEUE);
  expect(queue.Properties).toEqual({ SqsManagedSseEnabled: true, MessageRetentionPeriod: 14 * 24 * 3600 });
  const policy = await onlySynthesized('Api', 'AWS::SQS::QueuePolicy');
  expect(policy.Properties.Queues).toEqual([{ Ref: queue.logicalId }]);
  expect(policy.Properties.PolicyDocument).toMatchObject({
    Statement: [{ Effect: 'Deny', Principal: { AWS: '*' }, Condition: { Bool: { 'aws:SecureTransport': 'false' } } }],
  });
});

test('only the two event functions reach the queue, and may do nothing but send to it', async () => {
  const { logicalId } = await onlySynthesized('Api', QUEUE);
  const policies = await synthesized('Api', 'AWS::IAM::Policy');
  const grants = policies.flatMap((policy) => {
    const { Statement } = policy.Properties.PolicyDocument as { Statement: { Action: unknown; Resource: unknown }[] };
    return Statement.filter((statement) => JSON.stringify(statement).includes(logicalId)).map(
      ({ Action, Resource }) => [policy.logicalId.replace(/RoleDefaultPolicy.*/, ''), Action, Resource],
    );
  });
  const Resource = { 'Fn::GetAtt': [logicalId, 'Arn'] };
  expect(grants).toEqual([
    ['SettleUpload', 'sqs:SendMessage', Resource],
    ['Sweep', 'sqs:SendMessage', Resource],
  ]);
});

test('only the functions of events have places of their own among the functions of the account', async () => {
  const functions = await synthesized('Api', 'AWS::Lambda::Function');
  const reserved = functions.flatMap(({ logicalId, Properties: { ReservedConcurrentExecutions: count } }) =>
    count === undefined ? [] : [[logicalId.replace(/Function.*/, ''), count]],
  );
  expect(reserved).toEqual([
    ['SettleUpload', 20],
    ['Sweep', 2],
  ]);
});

test('an arrived upload that nothing can settle is tried three times, then given up to the queue', async () => {
  const service = await startTestService();
  try {
    const { byKey } = await service.newAccount();
    const { body: ticket } = await askForTicket(byKey, 'a.txt', 5);
    const principal = service.lambda.find('SettleUploadFunction').roleArn.replace(/.*\//, '');
    await withFault(service, { match: { principal }, effect: 'error-before' }, async () => {
      await put(ticket, 'hello');
      await expect.poll(() => service.invoker.failed.length).toBe(1);
    });
    expect(service.invoker.failed).toEqual([
      expect.objectContaining({ attempts: 3, destination: expect.stringMatching(/^arn:aws:sqs:.*FailedEvents/) }),
    ]);
  } finally {
    await service.close();
  }
});
