import { fileStore } from '../../shared/aws/file-store.ts';
import { required } from '../../shared/env.ts';
import { getFile, toFileRecord } from '../../shared/files/file-record.ts';
import { ok } from '../../shared/http/response.ts';
import { apiHandler } from '../../shared/stack/api-handler.ts';
import { getFile as route } from './get-file.route.ts';

const cdnUrl = required('CDN_URL');

/** GET /files/{id}: 200 and the file's record; 404 when it is absent, not ready or not the caller's. */
export const handler = apiHandler(route, async ({ caller: { accountId }, param }) => {
  const file = await getFile({ files: fileStore }, { accountId, id: param('id') });
  return ok(toFileRecord(file, cdnUrl));
});
