import type { Context, EventBridgeEvent } from 'aws-lambda';
import { completionStores } from '../../shared/aws/completion-stores.ts';
import { limit } from '../../shared/env.ts';
import { completeArrivedUpload } from '../../shared/files/complete-upload.ts';
import { describeError, log } from '../../shared/log.ts';
import { deadlineOf, withinInvocation } from '../../shared/time-limit.ts';

const fileCountLimit = limit('FILE_COUNT_LIMIT');

type ObjectCreated = EventBridgeEvent<'Object Created', { readonly object: { readonly key: string } }>;

/** Handles the bucket's event that an object has arrived under `incoming/`. When it throws, the event is delivered again. */
export async function handler({ detail }: ObjectCreated, context: Context): Promise<void> {
  const complete = () =>
    completeArrivedUpload(completionStores, detail.object.key, { ...deadlineOf(context), fileCountLimit });
  try {
    const outcome = await withinInvocation(context, complete);
    log('info', 'upload arrived', { request_id: context.awsRequestId, outcome });
  } catch (error) {
    log('error', 'upload arrived, not completed', { request_id: context.awsRequestId, ...describeError(error) });
    throw error;
  }
}
