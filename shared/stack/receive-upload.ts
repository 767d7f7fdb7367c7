import { type AccountLimits, countDiscardedBytes } from '../accounts/allowance.ts';
import { accountStore } from '../aws/account-store.ts';
import { idempotencyStore } from '../aws/idempotency-store.ts';
import { objectStore } from '../aws/object-store.ts';
import { settlementStore } from '../aws/settlement-store.ts';
import { limit, required } from '../env.ts';
import { ApiError } from '../errors.ts';
import { toFileRecord } from '../files/file-record.ts';
import { countedSettlements, settleUpload } from '../files/settle-upload.ts';
import { discardUpload, type StagedUpload, stageUpload } from '../files/stage-upload.ts';
import { type ApiEvent, bodyStream, header, idempotencyKey } from '../http/request.ts';
import { type ApiResult, created, replayedHeader } from '../http/response.ts';
import { MULTIPART_FRAMING_MAX_BYTES } from '../limits.ts';
import { readUploadForm } from '../upload-form/read-upload-form.ts';
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

export const accountLimits: AccountLimits = {
  storageLimitBytes: limit('STORAGE_LIMIT_BYTES'),
  fileCountLimit: limit('FILE_COUNT_LIMIT'),
  uploadBytesPerDay: limit('UPLOAD_BYTES_PER_DAY'),
};

/**
 * Answers the multipart form of `POST /files`, buffered by the gateway (inline) or still arriving (streaming): 201 with the file's record.
 * The bytes are stored while the form is read, but become a file only if the whole form is valid. Bytes that become no file are counted for
 * the day as well.
 * @param onStored  called when the whole form was read and its file stored; all that is left is to settle it.
 */
export async function receiveUpload(request: ApiRequest, onStored?: () => void): Promise<ApiResult> {
  const { event, caller } = request;
  try {
    const staged = await storeUpload(request);
    onStored?.();
    const settlements = event.stream ? settlementsOf.streaming : settlementsOf.inline;
    const { file, isReplay } = await settleUpload({ ...stores, settlements }, staged, request);
    // The content of a new file is counted already. The rest of the form, usually a few hundred bytes, is not counted yet.
    const discardedBytes = bytesSoFar(event) - (isReplay ? 0 : file.sizeBytes);
    await countDiscardedBytes(accountStore, caller.accountId, discardedBytes);
    return created(toFileRecord(file, cdnUrl), `/api/v1/files/${file.id}`, replayedHeader(isReplay));
  } catch (error) {
    const isCounted = isFaultOfClient(error, event);
    // A client that still sends its body cannot read the answer, so the rest is read and discarded first. We do this here, where the upload
    // still has its slot. There is one exception: if the account has used up its bytes of the day, the streaming server reads and discards
    // the rest later, without a slot (`drainRefused` in `functions/upload-stream/server.ts`).
    if (!isDayUsedUp(error)) await event.stream?.drain();
    if (isCounted) await countDiscardedBytes(accountStore, caller.accountId, bytesSoFar(event));
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
        leastBytes: leastFileBytes(event),
        maxBytes,
        limits: accountLimits,
        idempotencyKey: key,
      }),
    discard: async (upload) => {
      if (upload.kind === 'stored') await discardUpload(stores, upload.file);
    },
  });
}

/** The least number of bytes that the file of a form can have, computed from the length of the form; 0 when the form has no length. */
function leastFileBytes(event: ApiEvent): number {
  const length = Number(header(event, 'content-length') ?? 0);
  return Math.max(0, length - MULTIPART_FRAMING_MAX_BYTES) || 0;
}

function bytesSoFar({ stream, body, isBase64Encoded }: ApiEvent): number {
  return stream ? stream.bytes : Buffer.byteLength(body ?? '', isBase64Encoded ? 'base64' : 'utf8');
}

/**
 * True when the upload was refused for something that its client did, and has certainly not been settled. A time-out is the client's fault
 * if the body is still arriving. Our own failures are not.
 */
function isFaultOfClient(error: unknown, { stream }: ApiEvent): boolean {
  if (!(error instanceof ApiError)) return false;
  return error.status < 500 || (error.code === 'timeout' && stream?.hasEnded === false);
}

const isDayUsedUp = (error: unknown) => error instanceof ApiError && error.code === 'rate_limit_exceeded';
