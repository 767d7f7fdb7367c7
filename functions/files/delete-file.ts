import { deletionNoteStore } from '../../shared/aws/deletion-note-store.ts';
import { fileStore } from '../../shared/aws/file-store.ts';
import { objectStore, warmUpStorage } from '../../shared/aws/object-store.ts';
import { releaseStore } from '../../shared/aws/release-store.ts';
import { deleteFile } from '../../shared/files/delete-file.ts';
import type { FileRow } from '../../shared/files/file.ts';
import { findRow } from '../../shared/files/file-record.ts';
import { ok } from '../../shared/http/response.ts';
import { type ApiRequest, apiHandler } from '../../shared/stack/api-handler.ts';
import { warmUp } from '../../shared/stack/warm-up.ts';
import { deleteFile as route } from './delete-file.route.ts';

warmUp(warmUpStorage);

const stores = {
  files: fileStore,
  notes: deletionNoteStore,
  objects: objectStore,
  releases: releaseStore,
};

/** DELETE /files/{id}: 200 `{id, deleted}` ; 404 when it is absent or not the caller's. */
export const handler = apiHandler(
  route,
  async ({ caller: { accountId }, param, deadlineAt, early }: ApiRequest<FileRow | undefined>) => {
    const id = param('id');
    await deleteFile(stores, { accountId, id }, { deadlineAt, row: early });
    return ok({ id, deleted: true as const });
  },
  ({ caller: { accountId }, param }) => findRow(stores, { accountId, id: param('id') }),
);
