import type { Context, EventBridgeEvent } from 'aws-lambda';
import { completionStores } from '../../shared/aws/completion-stores.ts';
import { limit } from '../../shared/env.ts';
import { completeArrivedUpload } from '../../shared/files/complete-upload.ts';
import { fileOfIncomingKey } from '../../shared/files/object-key.ts';
import { describeError, log } from '../../shared/log.ts';
import { deadlineOf, withinInvocation } from '../../shared/time-limit.ts';

const fileCountLimit = limit('FILE_COUNT_LIMIT');

type ObjectCreated = EventBridgeEvent<'Object Created', { readonly object: { readonly key: string } }>;

/** Handles the bucket's event that an object has arrived under `incoming/`. When this function fails, the event is delivered again. */
export async function handler({ detail }: ObjectCreated, context: Context): Promise<void> {
  const ref = fileOfIncomingKey(detail.object.key);
  const what = { request_id: context.awsRequestId, ...(ref && { account_id: ref.accountId, resource_id: ref.id }) };
  const complete = () =>
    completeArrivedUpload(completionStores, detail.object.key, { ...deadlineOf(context), fileCountLimit });
  try {
    const outcome = await withinInvocation(context, complete);
    log('info', 'upload arrived', { ...what, outcome });
  } catch (error) {
    log('error', 'upload arrived, not completed', { ...what, ...describeError(error) });
    throw error;
  }
}
