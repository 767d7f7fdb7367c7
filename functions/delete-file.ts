import type { Deletion } from '../shared/answers.ts';
import { deletionNoteStore } from '../shared/aws/deletion-note-store.ts';
import { fileStore } from '../shared/aws/file-store.ts';
import { objectStore } from '../shared/aws/object-store.ts';
import { releaseStore } from '../shared/aws/release-store.ts';
import { ticketStore } from '../shared/aws/ticket-store.ts';
import { deleteFile } from '../shared/files/delete-file.ts';
import { ok } from '../shared/http/response.ts';
import { apiHandler } from '../shared/stack/api-handler.ts';

const stores = {
  files: fileStore,
  notes: deletionNoteStore,
  objects: objectStore,
  releases: releaseStore,
  tickets: ticketStore,
};

/** DELETE /files/{id}: 200 `{id, deleted}` for a file or a pending ticket; 404 when it is absent or not the caller's. */
export const handler = apiHandler('deleteFile', async ({ caller: { accountId }, param, deadlineAt }) => {
  const id = param('id');
  await deleteFile(stores, { accountId, id }, { deadlineAt });
  return ok({ id, deleted: true } satisfies Deletion);
});
