import type { Deletion } from '../shared/answers.ts';
import { fileStore } from '../shared/aws/file-store.ts';
import { objectStore, warmUpStorage } from '../shared/aws/object-store.ts';
import { releaseStore } from '../shared/aws/release-store.ts';
import { ticketStore } from '../shared/aws/ticket-store.ts';
import { deleteFile } from '../shared/files/delete-file.ts';
import type { FileRow } from '../shared/files/file.ts';
import { findRow } from '../shared/files/file-record.ts';
import { ok } from '../shared/http/response.ts';
import { apiHandler } from '../shared/stack/api-handler.ts';
import { warmUp } from '../shared/stack/warm-up.ts';

warmUp(warmUpStorage);

const stores = {
  files: fileStore,
  objects: objectStore,
  releases: releaseStore,
  tickets: ticketStore,
};

/** DELETE /files/{id}: 200 `{id, deleted}` for a file or a pending ticket; 404 when it is absent or not the caller's. */
export const handler = apiHandler<FileRow | undefined>(
  'deleteFile',
  async ({ caller: { accountId }, param, deadlineAt, early }) => {
    const id = param('id');
    await deleteFile(stores, { accountId, id }, { deadlineAt, row: early });
    return ok({ id, deleted: true } satisfies Deletion);
  },
  ({ caller: { accountId }, param }) => findRow(stores, { accountId, id: param('id') }),
);
