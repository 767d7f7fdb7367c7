import { fileStore } from '../shared/aws/file-store.ts';
import { required } from '../shared/env.ts';
import { toFileRecord } from '../shared/files/file-record.ts';
import { getFile } from '../shared/files/get-file.ts';
import { apiHandler } from '../shared/http/api-handler.ts';
import { ok } from '../shared/http/response.ts';

const cdnUrl = required('CDN_URL');

/** GET /files/{id}: 200 and the file's record; 404 when it is absent, not ready or not the caller's. */
export const handler = apiHandler('getFile', async ({ caller: { accountId }, param }) => {
  const file = await getFile({ files: fileStore }, { accountId, id: param('id') });
  return ok(toFileRecord(file, cdnUrl));
});
