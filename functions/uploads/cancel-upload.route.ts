import { idParameter } from '../../shared/contract/operation.ts';
import type { Route } from '../../shared/route.ts';

export const cancelUpload = {
  name: 'cancelUpload',
  method: 'DELETE',
  path: '/api/v1/uploads/{id}',
  access: 'key-or-session',
  rateClass: 'requests',
  purpose: 'Cancel a direct upload',
  entry: 'functions/uploads/cancel-upload.ts',
  needs: {
    tables: [
      { table: 'files', actions: ['GetItem', 'UpdateItem'] },
      { table: 'accounts', actions: ['UpdateItem'] },
    ],
    // After a ticket is cancelled, an empty object blocks the PUT that the ticket allowed.
    uploads: [{ actions: ['PutObject'], keys: ['incoming/*'] }],
  },
  operation: {
    tag: 'Direct uploads',
    description:
      'The announced size no longer counts as used storage. An upload that is complete is 404 here: delete its file, which has the same id.',
    parameters: [idParameter('the direct upload')],
    successes: [{ status: 200, description: 'The direct upload is cancelled.', body: 'Deletion' }],
    errors: ['not_found'],
    sample: {},
  },
} as const satisfies Route;
