import { accountStore } from '../shared/aws/account-store.ts';
import { fileStore } from '../shared/aws/file-store.ts';
import { objectStore } from '../shared/aws/object-store.ts';
import { releaseStore, settlementStore } from '../shared/aws/settlement-store.ts';
import { limit, required } from '../shared/env.ts';
import { completeUpload } from '../shared/files/complete-upload.ts';
import { toFileRecord } from '../shared/files/file-record.ts';
import { countedSettlements } from '../shared/files/settle-upload.ts';
import { created } from '../shared/http/response.ts';
import { apiHandler } from '../shared/stack/api-handler.ts';

const stores = {
  accounts: accountStore,
  files: fileStore,
  objects: objectStore,
  releases: releaseStore,
  settlements: countedSettlements(settlementStore, 'direct'),
};
const fileCountLimit = limit('FILE_COUNT_LIMIT');
const cdnUrl = required('CDN_URL');

/**
 * POST /files/{id}/complete: 201 and the file's record, also when repeated; 403 `storage_limit_exceeded`; 404; 409
 * `upload_incomplete`.
 */
export const handler = apiHandler('completeUpload', async ({ caller: { accountId }, param, deadlineAt }) => {
  const file = await completeUpload(stores, { accountId, id: param('id') }, { deadlineAt, fileCountLimit });
  return created(toFileRecord(file, cdnUrl), `/api/v1/files/${file.id}`);
});
