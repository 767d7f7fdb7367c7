import { idParameter } from '../../shared/contract/operation.ts';
import type { Route } from '../../shared/route.ts';

export const deleteFile = {
  name: 'deleteFile',
  method: 'DELETE',
  path: '/api/v1/files/{id}',
  access: 'key-or-session',
  rateClass: 'requests',
  purpose: 'Delete a file',
  entry: 'functions/files/delete-file.ts',
  needs: {
    tables: [
      { table: 'files', actions: ['GetItem', 'UpdateItem', 'DeleteItem'] },
      { table: 'accounts', actions: ['UpdateItem'] },
    ],
    uploads: [{ actions: ['DeleteObject'], keys: ['uploads/*'] }],
  },
  operation: {
    tag: 'Files',
    description:
      'The link stops working within 60 seconds. A browser that has loaded the file may keep its own copy for up to an hour.',
    parameters: [idParameter('the file')],
    successes: [{ status: 200, description: 'The file is deleted.', body: 'Deletion' }],
    errors: ['not_found'],
    sample: { client: "await hosting.delete(process.env.ID ?? '');" },
  },
} as const satisfies Route;
