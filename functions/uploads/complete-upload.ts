import { completionStores } from '../../shared/aws/completion-stores.ts';
import { limit, required } from '../../shared/env.ts';
import { completeUpload } from '../../shared/files/complete-upload.ts';
import { toFileRecord } from '../../shared/files/file-record.ts';
import { created } from '../../shared/http/response.ts';
import { apiHandler } from '../../shared/stack/api-handler.ts';
import { completeUpload as route } from './complete-upload.route.ts';

const fileCountLimit = limit('FILE_COUNT_LIMIT');
const cdnUrl = required('CDN_URL');

/**
 * POST /uploads/{id}/complete: 201 and the file's record, even when repeated; 403 `storage_limit_exceeded`; 404; 409
 * `upload_incomplete`.
 */
export const handler = apiHandler(route, async ({ caller: { accountId }, param, deadlineAt }) => {
  const ref = { accountId, id: param('id') };
  const file = await completeUpload(completionStores, ref, { deadlineAt, fileCountLimit });
  return created(toFileRecord(file, cdnUrl), `/api/v1/files/${file.id}`);
});
