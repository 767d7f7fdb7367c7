import { listParameter } from '../../shared/contract/operation.ts';
import type { Route } from '../../shared/route.ts';

export const listFiles = {
  name: 'listFiles',
  method: 'GET',
  path: '/api/v1/files',
  access: 'key-or-session',
  rateClass: 'lists',
  purpose: 'List files, newest first',
  entry: 'functions/files/list-files.ts',
  // A search reads and compares every file name of the account.
  memoryMb: 1_024,
  needs: {
    tables: [
      { table: 'accounts', actions: ['GetItem', 'ConditionCheckItem'] },
      // A search that meets a seal it cannot read puts the leaf on the sweeper's list.
      { table: 'files', actions: ['Query', 'UpdateItem'] },
      { table: 'files', actions: ['Query'], index: 'by_seq' },
    ],
    values: ['cdnUrl'],
  },
  operation: {
    tag: 'Files',
    description:
      'The newest file comes first, and `total` is exact. Pages are offsets: while files are added or deleted, a file may ' +
      'move from one page to the next.',
    parameters: [
      listParameter('page', 'The page number.'),
      listParameter('limit', 'The number of files on a full page.'),
      {
        name: 'search',
        in: 'query',
        description: 'A part of the name, in upper or lower case.',
        schema: { type: 'string' },
      },
    ],
    successes: [{ status: 200, description: 'A page of files.', body: 'FilesPage' }],
    sample: {
      query: 'limit=10&search=photo',
      client: [
        "const { items, total } = await hosting.list({ limit: 10, search: 'photo' });",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: it belongs to the sample.
        'console.log(`${items.length} of ${total}`);',
      ].join('\n'),
    },
  },
} as const satisfies Route;
