import { idempotencyKeyParameter } from '../../shared/contract/operation.ts';
import type { Route } from '../../shared/route.ts';

export const uploadFile = {
  name: 'uploadFile',
  method: 'POST',
  path: '/api/v1/files',
  access: 'key-or-session',
  rateClass: 'uploads',
  purpose: 'Upload a file in a form',
  entry: 'functions/files/upload-file.ts',
  // It parses, hashes and stores up to 4 MiB.
  memoryMb: 1_024,
  needs: {
    tables: [
      // The update changes the row of a leaf, when the file fills that leaf.
      { table: 'files', actions: ['PutItem', 'UpdateItem'] },
      { table: 'accounts', actions: ['GetItem', 'UpdateItem'] },
      { table: 'idempotency', actions: ['GetItem', 'PutItem'] },
    ],
    uploads: [{ actions: ['PutObject', 'DeleteObject'], keys: ['uploads/*'] }],
    values: ['cdnUrl'],
    limits: ['MAX_UPLOAD_SIZE_BYTES', 'STORAGE_LIMIT_BYTES', 'FILE_COUNT_LIMIT', 'UPLOAD_BYTES_PER_DAY'],
  },
  operation: {
    tag: 'Files',
    description:
      'The form has one file part, under any field name. The name of the file is that of the part, and so is its type; without a type, ' +
      'the ending of the name decides. Large files and slow networks are better served by a direct upload ' +
      '(`POST /api/v1/uploads`). No `Content-Encoding`.',
    parameters: [idempotencyKeyParameter],
    body: 'UploadForm',
    successes: [
      {
        status: 201,
        description: 'The file: of this form, or of the earlier request with this `Idempotency-Key`.',
        body: 'FileRecord',
        headers: ['Location', 'Idempotency-Replayed'],
      },
    ],
    errors: ['storage_limit_exceeded', 'idempotency_conflict', 'unsupported_media_type'],
    sample: {
      file: 'photo.jpg',
      client: [
        '// Large files go directly to the storage.',
        "const file = await hosting.upload('./photo.jpg');",
        'console.log(file.url);',
      ].join('\n'),
    },
  },
} as const satisfies Route;
