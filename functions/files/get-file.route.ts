import { idParameter } from '../../shared/contract/operation.ts';
import type { Route } from '../../shared/route.ts';

export const getFile = {
  name: 'getFile',
  method: 'GET',
  path: '/api/v1/files/{id}',
  access: 'key-or-session',
  rateClass: 'requests',
  purpose: 'Details of one file',
  entry: 'functions/files/get-file.ts',
  needs: { tables: [{ table: 'files', actions: ['GetItem'] }], values: ['cdnUrl'] },
  operation: {
    tag: 'Files',
    description:
      'A file of the account; its bytes are at its `url`. The file of another account is 404, and so is a direct upload that is not complete.',
    parameters: [idParameter('the file')],
    successes: [{ status: 200, description: 'The file.', body: 'FileRecord' }],
    errors: ['not_found'],
    sample: { client: "console.log(await hosting.get(process.env.ID ?? ''));" },
  },
} as const satisfies Route;
