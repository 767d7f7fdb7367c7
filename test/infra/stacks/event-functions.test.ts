import { expect, test } from 'vitest';
import { directTicketMs, readLimits } from '../../../shared/contract/limits.ts';
import { askForTicket, put } from '../../support/lanes.ts';
import { startTestService } from '../../support/service.ts';
import { onlySynthesized, synthesized } from '../../support/synthesized.ts';
import { withFault } from '../../support/with-fault.ts';

const LONGEST_TICKET_MS = directTicketMs(readLimits({}).MAX_UPLOAD_SIZE_BYTES);
const QUEUE = 'AWS::SQS::Queue';

async function withId(type: string, start: string) {
  const found = (await synthesized('Api', type)).find(({ logicalId }) => logicalId.startsWith(start));
  if (!found) throw new Error(`no ${type} begins with ${start}`);
  return found;
}

test.each([
  // This event is retried for the time of the longest ticket. Lambda keeps an event for six hours at most.
  ['CompleteArrivedUpload', { MaximumRetryAttempts: 2, MaximumEventAgeInSeconds: LONGEST_TICKET_MS / 1_000 }],
  // This event is not retried, because the next sweep follows within a minute.
  ['Sweep', { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 }],
])(
  'an event at which %s fails is retried as long as that is useful, and then goes to the queue',
  async (name, tries) => {
    const queue = await onlySynthesized('Api', QUEUE);
    const fn = await withId('AWS::Lambda::Function', `${name}Function`);
    const config = await withId('AWS::Lambda::EventInvokeConfig', `${name}Function`);
    expect(config.Properties).toEqual({
      ...tries,
      FunctionName: { Ref: fn.logicalId },
      Qualifier: '$LATEST',
      DestinationConfig: { OnFailure: { Destination: { 'Fn::GetAtt': [queue.logicalId, 'Arn'] } } },
    });
  },
);

test('the queue of failed events is encrypted, requires TLS, and keeps events for 14 days', async () => {
  const queue = await onlySynthesized('Api', QUEUE);
  expect(queue.Properties).toMatchObject({ SqsManagedSseEnabled: true, MessageRetentionPeriod: 14 * 24 * 3600 });
  const policy = await onlySynthesized('Api', 'AWS::SQS::QueuePolicy');
  expect(policy.Properties.Queues).toEqual([{ Ref: queue.logicalId }]);
  expect(policy.Properties.PolicyDocument).toMatchObject({
    Statement: [{ Effect: 'Deny', Principal: { AWS: '*' }, Condition: { Bool: { 'aws:SecureTransport': 'false' } } }],
  });
});

test('only the two background functions have reserved concurrency', async () => {
  const functions = await synthesized('Api', 'AWS::Lambda::Function');
  const reserved = functions.flatMap(({ logicalId, Properties: { ReservedConcurrentExecutions: count } }) =>
    count === undefined ? [] : [[logicalId.replace(/Function.*/, ''), count]],
  );
  expect(reserved).toEqual([
    ['CompleteArrivedUpload', 20],
    ['Sweep', 2],
  ]);
});

test('the event of a direct upload that cannot be settled is tried three times, and then goes to the queue', async () => {
  const service = await startTestService();
  try {
    const { byKey } = await service.newAccount();
    const { body: ticket } = await askForTicket(byKey, 'a.txt', 5);
    const principal = service.lambda.find('CompleteArrivedUploadFunction').roleArn.replace(/.*\//, '');
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
