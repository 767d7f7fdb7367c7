import { directTicketMs, UPLOAD_SLOWEST_BYTES_PER_SECOND } from '../../shared/contract/limits.ts';
import { DIRECT_URL_MINUTES, idempotencyKeyParameter } from '../../shared/contract/operation.ts';
import { DIRECT_UPLOADS } from '../../shared/contract/samples.ts';
import type { Route } from '../../shared/route.ts';

export const createUpload = {
  name: 'createUpload',
  method: 'POST',
  path: '/api/v1/uploads',
  access: 'key-or-session',
  rateClass: 'uploads',
  purpose: 'Ask for the ticket of a direct upload',
  entry: 'functions/uploads/create-upload.ts',
  needs: {
    tables: [
      { table: 'files', actions: ['GetItem', 'PutItem', 'UpdateItem'] },
      { table: 'accounts', actions: ['GetItem', 'UpdateItem'] },
      { table: 'idempotency', actions: ['GetItem', 'PutItem'] },
    ],
    // A URL that this function signs permits only what its role permits.
    uploads: [{ actions: ['PutObject'], keys: ['incoming/*'] }],
    values: ['cdnUrl'],
    limits: ['MAX_UPLOAD_SIZE_BYTES', 'STORAGE_LIMIT_BYTES', 'FILE_COUNT_LIMIT', 'UPLOAD_BYTES_PER_DAY'],
  },
  operation: {
    tag: 'Direct uploads',
    description:
      'For large files and slow networks. Send exactly the announced bytes to `upload.url`, with `upload.method` and `upload.headers`, ' +
      `then complete the upload. The PUT must begin within ${DIRECT_URL_MINUTES} minutes. From the ticket on, the announced size counts as used ` +
      'storage: until the upload is cancelled, or, if the bytes do not arrive, for ' +
      `${directTicketMs(0) / 60_000} minutes and as long as the PUT takes at ${UPLOAD_SLOWEST_BYTES_PER_SECOND / 1_024} KiB/s. \`DELETE\` cancels the upload.`,
    parameters: [idempotencyKeyParameter],
    body: 'TicketRequest',
    successes: [
      {
        status: 202,
        description: 'The ticket of the direct upload.',
        body: 'UploadTicket',
        headers: ['Location', 'Idempotency-Replayed'],
      },
      {
        status: 201,
        description:
          '`file` is the file: the earlier upload with this `Idempotency-Key` is complete. There is nothing to send.',
        body: 'UploadTicket',
        headers: ['Location', 'Idempotency-Replayed'],
      },
    ],
    errors: ['storage_limit_exceeded', 'idempotency_conflict', 'unsupported_media_type'],
    sample: {
      json: '{"name": "film.mp4", "mime_type": "video/mp4", "size_bytes": 52428800}',
      whole: DIRECT_UPLOADS,
    },
  },
} as const satisfies Route;
