import type { Context, EventBridgeEvent } from 'aws-lambda';
import { accountStore } from '../../shared/aws/account-store.ts';
import { fileStore } from '../../shared/aws/file-store.ts';
import { objectStore } from '../../shared/aws/object-store.ts';
import { releaseStore } from '../../shared/aws/release-store.ts';
import { settlementStore } from '../../shared/aws/settlement-store.ts';
import { limit } from '../../shared/env.ts';
import { completeArrivedUpload } from '../../shared/files/complete-upload.ts';
import { countedSettlements } from '../../shared/files/settle-upload.ts';
import { describeError, log } from '../../shared/log.ts';
import { deadlineOf, withinInvocation } from '../../shared/time-limit.ts';

const stores = {
  accounts: accountStore,
  files: fileStore,
  objects: objectStore,
  releases: releaseStore,
  settlements: countedSettlements(settlementStore, 'direct'),
};
const fileCountLimit = limit('FILE_COUNT_LIMIT');

type ObjectCreated = EventBridgeEvent<'Object Created', { readonly object: { readonly key: string } }>;

/** Handles the bucket's event that an object has arrived under `incoming/`. When it throws, the event is delivered again. */
export async function handler({ detail }: ObjectCreated, context: Context): Promise<void> {
  const complete = () => completeArrivedUpload(stores, detail.object.key, { ...deadlineOf(context), fileCountLimit });
  try {
    const outcome = await withinInvocation(context, complete);
    log('info', 'upload arrived', { request_id: context.awsRequestId, outcome });
  } catch (error) {
    log('error', 'upload arrived, not completed', { request_id: context.awsRequestId, ...describeError(error) });
    throw error;
  }
}
