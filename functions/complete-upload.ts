import { accountStore } from '../shared/aws/account-store.ts';
import { fileStore } from '../shared/aws/file-store.ts';
import { objectStore, warmUpStorage } from '../shared/aws/object-store.ts';
import { releaseStore } from '../shared/aws/release-store.ts';
import { settlementStore } from '../shared/aws/settlement-store.ts';
import { limit, required } from '../shared/env.ts';
import { completeUpload } from '../shared/files/complete-upload.ts';
import type { FileRow } from '../shared/files/file.ts';
import { findRow, toFileRecord } from '../shared/files/file-record.ts';
import { countedSettlements } from '../shared/files/settle-upload.ts';
import { created } from '../shared/http/response.ts';
import { apiHandler } from '../shared/stack/api-handler.ts';
import { warmUp } from '../shared/stack/warm-up.ts';

warmUp(warmUpStorage);

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
 * POST /files/{id}/complete: 201 and the file's record, even when repeated; 403 `storage_limit_exceeded`; 404; 409
 * `upload_incomplete`.
 */
export const handler = apiHandler<FileRow | undefined>(
  'completeUpload',
  async ({ caller: { accountId }, param, deadlineAt, early }) => {
    const ref = { accountId, id: param('id') };
    const file = await completeUpload(stores, ref, { deadlineAt, fileCountLimit, row: early });
    return created(toFileRecord(file, cdnUrl), `/api/v1/files/${file.id}`);
  },
  ({ caller: { accountId }, param }) => findRow(stores, { accountId, id: param('id') }),
);
