import { UPLOAD_SLOWEST_BYTES_PER_SECOND } from '../../shared/contract/limits.ts';
import { idempotencyKeyParameter } from '../../shared/contract/operation.ts';
import { REPEATED_UPLOADS } from '../../shared/contract/samples.ts';
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
    description: [
      'The form has one file part, under any field name; text fields beside it are ignored. It may come without a `Content-Length`, and has no ' +
        '`Content-Encoding`.',
      'The name of the file is that of the part, in UTF-8 as `filename` or encoded as `filename*`. Browsers send a `"` in a name as `%22`, so ' +
        '`%22` is read as `"`. The type is that of the part too; without a type, or with one that says nothing, such as ' +
        '`application/octet-stream`, the ending of the name decides.',
      'Large files and slow networks are better served by a direct upload (`POST /api/v1/uploads`). The connection is cut if a form arrives ' +
        `more slowly than ${UPLOAD_SLOWEST_BYTES_PER_SECOND / 1_024} KiB/s, or pauses for 20 seconds: then the answer is 503 or 504, or none, and a repetition on the same network does ` +
        'not help. A ticket needs the size, so save a slow stream to a file first.',
    ].join('\n\n'),
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
      whole: REPEATED_UPLOADS,
      client: [
        '// Large files go directly to the storage.',
        "const file = await hosting.upload('./photo.jpg');",
        'console.log(file.url);',
      ].join('\n'),
    },
  },
} as const satisfies Route;
