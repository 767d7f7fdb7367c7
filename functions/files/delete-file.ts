import { fileStore } from '../../shared/aws/file-store.ts';
import { objectStore } from '../../shared/aws/object-store.ts';
import { releaseStore } from '../../shared/aws/release-store.ts';
import { deleteFile } from '../../shared/files/delete-file.ts';
import { ok } from '../../shared/http/response.ts';
import { apiHandler } from '../../shared/stack/api-handler.ts';
import { deleteFile as route } from './delete-file.route.ts';

const stores = {
  files: fileStore,
  objects: objectStore,
  releases: releaseStore,
};

/** DELETE /files/{id}: 200 `{id, deleted}`; 404 when it is absent or not the caller's. */
export const handler = apiHandler(route, async ({ caller: { accountId }, param, deadlineAt }) => {
  const id = param('id');
  await deleteFile(stores, { accountId, id }, { deadlineAt });
  return ok({ id, deleted: true as const });
});
