import { randomBytes, randomUUID } from 'node:crypto';
import type { Account } from '../aws-front/principals.ts';
import type { ObjectCreated } from '../s3/s3-request.ts';

/** Grows with every event, as S3's does per key. */
let sequence = BigInt(Date.now()) << 20n;

/**
 * The EventBridge event of a new object. The key is not encoded in any way.
 * Source: S3 User Guide, "EventBridge event message structure".
 */
export function objectCreatedEvent(created: ObjectCreated, { region, accountId }: Account): object {
  sequence += 1n;
  return {
    version: '0',
    id: randomUUID(),
    'detail-type': 'Object Created',
    source: 'aws.s3',
    account: accountId,
    time: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
    region,
    resources: [`arn:aws:s3:::${created.bucket}`],
    detail: {
      version: '0',
      bucket: { name: created.bucket },
      object: {
        key: created.key,
        size: created.size,
        etag: created.etag,
        sequencer: sequence.toString(16).toUpperCase().padStart(18, '0'),
      },
      'request-id': randomBytes(8).toString('hex').toUpperCase(),
      requester: accountId,
      'source-ip-address': '127.0.0.1',
      reason: created.reason,
    },
  };
}

/** The event of a rule that goes by the clock. Source: EventBridge User Guide, "Scheduled events". */
export function scheduledEvent(ruleArn: string, { region, accountId }: Account): object {
  return {
    version: '0',
    id: randomUUID(),
    'detail-type': 'Scheduled Event',
    source: 'aws.events',
    account: accountId,
    time: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
    region,
    resources: [ruleArn],
    detail: {},
  };
}
