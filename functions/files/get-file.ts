import { fileStore } from '../../shared/aws/file-store.ts';
import { required } from '../../shared/env.ts';
import type { StoredFile } from '../../shared/files/file.ts';
import { getFile, toFileRecord } from '../../shared/files/file-record.ts';
import { ok } from '../../shared/http/response.ts';
import { type ApiRequest, apiHandler } from '../../shared/stack/api-handler.ts';
import { getFile as route } from './get-file.route.ts';

const cdnUrl = required('CDN_URL');

/** GET /files/{id}: 200 and the file's record; 404 when it is absent, not ready or not the caller's. */
export const handler = apiHandler(
  route,
  async ({ early }: ApiRequest<StoredFile>) => ok(toFileRecord(await early, cdnUrl)),
  ({ caller: { accountId }, param }) => getFile({ files: fileStore }, { accountId, id: param('id') }),
);
