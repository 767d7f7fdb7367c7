import { accountStore } from '../aws/account-store.ts';
import { fileStore } from '../aws/file-store.ts';
import { idempotencyStore } from '../aws/idempotency-store.ts';
import { objectStore } from '../aws/object-store.ts';
import { settlementStore } from '../aws/settlement-store.ts';
import { limit, required } from '../env.ts';
import { countedSettlements } from '../files/counted-settlements.ts';
import { discardUpload } from '../files/discard-upload.ts';
import { toFileRecord } from '../files/file-record.ts';
import { settleUpload } from '../files/settle-upload.ts';
import { type StagedUpload, stageUpload } from '../files/stage-upload.ts';
import { INLINE_LEASE_SECONDS, STREAMING_LEASE_SECONDS } from '../limits.ts';
import { readUploadForm } from '../upload-form/read-upload-form.ts';
import type { ApiRequest } from './api-handler.ts';
import { type ApiResult, bodyStream, header } from './event.ts';
import { idempotencyKey, replayedHeader } from './idempotency-key.ts';
import { created } from './response.ts';

const stores = {
  accounts: accountStore,
  files: fileStore,
  idempotency: idempotencyStore,
  objects: objectStore,
};
const inlineStores = { ...stores, settlements: countedSettlements(settlementStore, 'inline') };
const streamingStores = { ...stores, settlements: countedSettlements(settlementStore, 'streaming') };
const maxBytes = limit('MAX_UPLOAD_SIZE_BYTES');
const storageLimitBytes = limit('STORAGE_LIMIT_BYTES');
const cdnUrl = required('CDN_URL');

/**
 * The multipart form of `POST /files`, buffered by the gateway or still arriving: 201 with the file's record. The file is
 * stored while the form is read, and made to exist only once the form has ended well.
 */
export async function receiveUpload({ event, caller, deadlineAt }: ApiRequest): Promise<ApiResult> {
  const { accountId } = caller;
  const key = idempotencyKey(event);
  const staged = await readUploadForm<StagedUpload>(bodyStream(event), header(event, 'content-type'), {
    onFile: ({ filename, contentType, body }) =>
      stageUpload(stores, {
        accountId,
        clientName: filename,
        declaredType: contentType,
        content: body,
        maxBytes,
        storageLimitBytes,
        leaseSeconds: event.stream ? STREAMING_LEASE_SECONDS : INLINE_LEASE_SECONDS,
        idempotencyKey: key,
      }),
    discard: async (upload) => {
      if (upload.kind === 'stored') await discardUpload(stores, upload.upload);
    },
  });
  const settlingStores = event.stream ? streamingStores : inlineStores;
  const { file, isReplay } = await settleUpload(settlingStores, staged, { deadlineAt });
  return created(toFileRecord(file, cdnUrl), `/api/v1/files/${file.id}`, replayedHeader(isReplay));
}
