import { completionStores } from '../../shared/aws/completion-stores.ts';
import { warmUpStorage } from '../../shared/aws/object-store.ts';
import { limit, required } from '../../shared/env.ts';
import { completeUpload } from '../../shared/files/complete-upload.ts';
import type { Ticket } from '../../shared/files/file.ts';
import { findTicket, toFileRecord } from '../../shared/files/file-record.ts';
import { created } from '../../shared/http/response.ts';
import { type ApiRequest, apiHandler } from '../../shared/stack/api-handler.ts';
import { warmUp } from '../../shared/stack/warm-up.ts';
import { completeUpload as route } from './complete-upload.route.ts';

warmUp(warmUpStorage);

const fileCountLimit = limit('FILE_COUNT_LIMIT');
const cdnUrl = required('CDN_URL');

/**
 * POST /uploads/{id}/complete: 201 and the file's record, even when repeated; 403 `storage_limit_exceeded`; 404; 409
 * `upload_incomplete`.
 */
export const handler = apiHandler(
  route,
  async ({ caller: { accountId }, param, deadlineAt, early }: ApiRequest<Ticket | undefined>) => {
    const ref = { accountId, id: param('id') };
    const file = await completeUpload(completionStores, ref, { deadlineAt, fileCountLimit, ticket: early });
    return created(toFileRecord(file, cdnUrl), `/api/v1/files/${file.id}`);
  },
  ({ caller: { accountId }, param }) => findTicket(completionStores, { accountId, id: param('id') }),
);
