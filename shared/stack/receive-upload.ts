import { countDiscardedBytes } from '../accounts/allowance.ts';
import { accountStore } from '../aws/account-store.ts';
import { idempotencyStore } from '../aws/idempotency-store.ts';
import { objectStore } from '../aws/object-store.ts';
import { settlementStore } from '../aws/settlement-store.ts';
import type { FileRecord } from '../contract/answers.ts';
import { limit, required } from '../env.ts';
import { ApiError } from '../errors.ts';
import { toFileRecord } from '../files/file-record.ts';
import { countedSettlements, settleUpload } from '../files/settle-upload.ts';
import { discardUpload, type StagedUpload, stageUpload } from '../files/stage-upload.ts';
import { type ApiEvent, bodyStream, header, idempotencyKey, receivedBytes } from '../http/request.ts';
import { type ApiResult, created, replayedHeader } from '../http/response.ts';
import { readUploadForm } from '../upload-form/read-upload-form.ts';
import { accountLimits } from './account-limits.ts';
import type { ApiRequest } from './api-handler.ts';

const stores = {
  accounts: accountStore,
  idempotency: idempotencyStore,
  objects: objectStore,
};
const settlementsOf = {
  inline: countedSettlements(settlementStore, 'inline'),
  streaming: countedSettlements(settlementStore, 'streaming'),
};
const maxBytes = limit('MAX_UPLOAD_SIZE_BYTES');
const cdnUrl = required('CDN_URL');

/**
 * Answers the multipart form of `POST /files`, buffered by the gateway (inline) or still arriving (streaming): 201 with the file's record.
 * The bytes are stored while the form is read, but become a file only if the whole form is valid. Bytes that become no file are counted for
 * the day as well. But if a form is refused while it still arrives, the streaming server counts its bytes, when it has read the rest.
 */
export async function receiveUpload(request: ApiRequest): Promise<ApiResult<FileRecord>> {
  const { event, caller } = request;
  try {
    const staged = await storeUpload(request);
    const settlements = event.stream ? settlementsOf.streaming : settlementsOf.inline;
    const { file, isReplay } = await settleUpload({ ...stores, settlements }, staged, request);
    // The content of a new file is counted already. The rest of the form, usually a few hundred bytes, is not counted yet.
    const discardedBytes = receivedBytes(event) - (isReplay ? 0 : file.sizeBytes);
    await countDiscardedBytes(accountStore, caller.accountId, discardedBytes);
    return created(toFileRecord(file, cdnUrl), `/api/v1/files/${file.id}`, replayedHeader(isReplay));
  } catch (error) {
    const isRefusal = error instanceof ApiError && error.status < 500;
    if (isRefusal && hasArrived(event)) await countDiscardedBytes(accountStore, caller.accountId, receivedBytes(event));
    throw error;
  }
}

async function storeUpload({ event, caller }: ApiRequest): Promise<StagedUpload> {
  const key = idempotencyKey(event);
  return readUploadForm<StagedUpload>(bodyStream(event), header(event, 'content-type'), {
    onFile: ({ filename, contentType, body }) =>
      stageUpload(stores, {
        accountId: caller.accountId,
        clientName: filename,
        declaredType: contentType,
        content: body,
        maxBytes,
        limits: accountLimits,
        idempotencyKey: key,
      }),
    discard: async (upload) => {
      if (upload.kind === 'stored') await discardUpload(stores, upload.file);
    },
  });
}

function hasArrived({ stream }: ApiEvent): boolean {
  return stream?.hasEnded ?? true;
}
