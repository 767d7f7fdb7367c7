import { accountStore } from '../shared/aws/account-store.ts';
import { fileStore } from '../shared/aws/file-store.ts';
import { objectStore } from '../shared/aws/object-store.ts';
import { settlementStore } from '../shared/aws/settlement-store.ts';
import { required } from '../shared/env.ts';
import { completeUpload } from '../shared/files/complete-upload.ts';
import { countedSettlements } from '../shared/files/counted-settlements.ts';
import { toFileRecord } from '../shared/files/file-record.ts';
import { apiHandler } from '../shared/http/api-handler.ts';
import { created } from '../shared/http/response.ts';

const stores = {
  accounts: accountStore,
  files: fileStore,
  objects: objectStore,
  settlements: countedSettlements(settlementStore, 'direct'),
};
const cdnUrl = required('CDN_URL');

/** POST /files/{id}/complete: 201 and the file's record, again and again; 404; 409 `upload_incomplete`. */
export const handler = apiHandler('completeUpload', async ({ caller: { accountId }, param, deadlineAt }) => {
  const file = await completeUpload(stores, { accountId, id: param('id') }, { deadlineAt });
  return created(toFileRecord(file, cdnUrl), `/api/v1/files/${file.id}`);
});
