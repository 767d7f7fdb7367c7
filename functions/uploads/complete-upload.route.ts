import { idParameter } from '../../shared/contract/operation.ts';
import type { Needs, Route } from '../../shared/route.ts';

/** What completing a direct upload needs, by its client or by the event of the bucket: it copies the bytes and settles the file. */
export const COMPLETING = {
  tables: [
    { table: 'files', actions: ['GetItem', 'PutItem', 'UpdateItem'] },
    { table: 'accounts', actions: ['GetItem', 'UpdateItem'] },
    { table: 'idempotency', actions: ['PutItem'] },
  ],
  uploads: [
    { actions: ['GetObject'], keys: ['incoming/*'] },
    { actions: ['PutObject', 'DeleteObject', 'AbortMultipartUpload'], keys: ['uploads/*'] },
    { actions: ['ListBucket'] },
  ],
  limits: ['FILE_COUNT_LIMIT'],
} as const satisfies Needs;

export const completeUpload = {
  name: 'completeUpload',
  method: 'POST',
  path: '/api/v1/uploads/{id}/complete',
  access: 'key-or-session',
  rateClass: 'requests',
  purpose: 'Finish a direct upload after its bytes are stored',
  entry: 'functions/uploads/complete-upload.ts',
  // It copies up to 5,000 MiB, many parts at once.
  memoryMb: 1_024,
  needs: { ...COMPLETING, values: ['cdnUrl'] },
  operation: {
    tag: 'Direct uploads',
    description:
      'The file has the id of its upload. The request may be repeated. Without it the arrival of the bytes completes the upload, usually within seconds. ' +
      'The answer tells the state of the upload: 409 until the bytes have arrived, 404 after it was cancelled or has ended.',
    parameters: [idParameter('the direct upload')],
    successes: [{ status: 201, description: 'The file.', body: 'FileRecord', headers: ['Location'] }],
    errors: ['not_found', 'storage_limit_exceeded', 'upload_incomplete'],
    sample: {},
  },
} as const satisfies Route;
