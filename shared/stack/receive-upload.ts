import { type AccountLimits, countInVain } from '../accounts/allowance.ts';
import { accountStore } from '../aws/account-store.ts';
import { fileStore } from '../aws/file-store.ts';
import { idempotencyStore } from '../aws/idempotency-store.ts';
import { objectStore } from '../aws/object-store.ts';
import { settlementStore } from '../aws/settlement-store.ts';
import { limit, required } from '../env.ts';
import { ApiError } from '../errors.ts';
import { toFileRecord } from '../files/file-record.ts';
import { discardUpload } from '../files/pending-upload.ts';
import { countedSettlements, type SettledUpload, settleUpload } from '../files/settle-upload.ts';
import { type StagedUpload, stageUpload } from '../files/stage-upload.ts';
import { type ApiEvent, type ApiResult, bodyStream, header } from '../http/event.ts';
import { idempotencyKey, replayedHeader } from '../http/idempotency-key.ts';
import { created } from '../http/response.ts';
import { INLINE_LEASE_MS, MULTIPART_FRAMING_MAX_BYTES, STREAMING_LEASE_MS } from '../limits.ts';
import { readUploadForm } from '../upload-form/read-upload-form.ts';
import type { ApiRequest } from './api-handler.ts';

const stores = {
  accounts: accountStore,
  files: fileStore,
  idempotency: idempotencyStore,
  objects: objectStore,
};
const inlineStores = { ...stores, settlements: countedSettlements(settlementStore, 'inline') };
const streamingStores = { ...stores, settlements: countedSettlements(settlementStore, 'streaming') };
const maxBytes = limit('MAX_UPLOAD_SIZE_BYTES');
const cdnUrl = required('CDN_URL');

/** What every account may take, unless the operator made an exception for it. */
export const accountLimits: AccountLimits = {
  storageLimitBytes: limit('STORAGE_LIMIT_BYTES'),
  fileCountLimit: limit('FILE_COUNT_LIMIT'),
  uploadBytesPerDay: limit('UPLOAD_BYTES_PER_DAY'),
};

/**
 * The multipart form of `POST /files`, buffered by the gateway or still arriving: 201 with the file's record. The file is
 * stored while the form is read, and made to exist only once the form has ended well. What was sent in vain is counted for
 * the day as well.
 */
export async function receiveUpload(request: ApiRequest): Promise<ApiResult> {
  const { event, caller } = request;
  try {
    const { file, isReplay } = await storeUpload(request);
    // Of a new file the content is counted already: this is what the form held besides it, which is next to nothing as a rule.
    const inVain = bytesSoFar(event) - (isReplay ? 0 : file.sizeBytes);
    await countInVain(accountStore, caller.accountId, inVain);
    return created(toFileRecord(file, cdnUrl), `/api/v1/files/${file.id}`, replayedHeader(isReplay));
  } catch (error) {
    const isCounted = isFaultOfClient(error, event);
    // A client whose body is still on its way cannot read the answer, so the rest is thrown away first, except for an
    // account that may send no more today.
    if (!isDayUsedUp(error)) await event.stream?.drain();
    if (isCounted) await countInVain(accountStore, caller.accountId, bytesSoFar(event));
    throw error;
  }
}

async function storeUpload({ event, caller, deadlineAt }: ApiRequest): Promise<SettledUpload> {
  const key = idempotencyKey(event);
  const staged = await readUploadForm<StagedUpload>(bodyStream(event), header(event, 'content-type'), {
    onFile: ({ filename, contentType, body }) =>
      stageUpload(stores, {
        accountId: caller.accountId,
        clientName: filename,
        declaredType: contentType,
        content: body,
        leastBytes: leastFileBytes(event),
        maxBytes,
        limits: accountLimits,
        leaseMs: event.stream ? STREAMING_LEASE_MS : INLINE_LEASE_MS,
        idempotencyKey: key,
      }),
    discard: async (upload) => {
      if (upload.kind === 'stored') await discardUpload(stores, upload.upload);
    },
  });
  return settleUpload(event.stream ? streamingStores : inlineStores, staged, { deadlineAt });
}

/** A form of this length holds a file of at least so many bytes; 0 when it came without a length. */
function leastFileBytes(event: ApiEvent): number {
  const length = Number(header(event, 'content-length') ?? 0);
  return Math.max(0, length - MULTIPART_FRAMING_MAX_BYTES) || 0;
}

function bytesSoFar({ stream, body, isBase64Encoded }: ApiEvent): number {
  return stream ? stream.bytes : Buffer.byteLength(body ?? '', isBase64Encoded ? 'base64' : 'utf8');
}

/**
 * True when the upload was refused for what its client did, and certainly not settled. A time-out is the client's while its
 * body is still on its way; what fails on our side costs it nothing.
 */
function isFaultOfClient(error: unknown, { stream }: ApiEvent): boolean {
  if (!(error instanceof ApiError)) return false;
  return error.status < 500 || (error.code === 'timeout' && stream?.hasEnded === false);
}

const isDayUsedUp = (error: unknown) => error instanceof ApiError && error.code === 'rate_limit_exceeded';
