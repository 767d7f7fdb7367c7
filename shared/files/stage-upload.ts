import { createHash, type Hash } from 'node:crypto';
import { type Account, type AccountStore, getAccount } from '../accounts/account.ts';
import {
  type AccountLimits,
  type Allowance,
  factsOf,
  isRepeatingTooMuch,
  refusalError,
  refusalOf,
} from '../accounts/allowance.ts';
import { ApiError } from '../errors.ts';
import { uuidv7 } from '../ids.ts';
import { describeError, log } from '../log.ts';
import { briefly } from '../time-limit.ts';
import { contentDisposition } from './content-disposition.ts';
import type { IdempotencyClaim, StoredFile } from './file.ts';
import { cleanFileName } from './file-name.ts';
import { fingerprint, replay } from './idempotency.ts';
import { mediaType } from './media-type.ts';
import { newObjectKey } from './object-key.ts';
import type { ObjectStore } from './object-store.ts';
import { inParts, PART_BYTES, type Part } from './parts.ts';
import type { IdempotencyRecord, IdempotencyStore, ListingEnd, UnsettledFile } from './stores.ts';

export interface StagingStores {
  readonly accounts: AccountStore;
  readonly idempotency: IdempotencyStore;
  readonly objects: ObjectStore;
}

/** A file that arrives in a form. */
export interface UploadRequest {
  readonly accountId: string;
  /** The file name that the part gives; undefined when it gives none. */
  readonly clientName: string | undefined;
  /** The part's Content-Type. */
  readonly declaredType: string | undefined;
  readonly content: AsyncIterable<Uint8Array>;
  readonly maxBytes: number;
  readonly limits: AccountLimits;
  readonly idempotencyKey?: string | undefined;
}

/** An upload whose bytes are stored but not charged yet; or the file that an earlier request with the same key has made. */
export type StagedUpload =
  | {
      readonly kind: 'stored';
      readonly file: UnsettledFile;
      readonly allowance: Allowance & { readonly known: ListingEnd };
      readonly claim?: IdempotencyClaim;
    }
  | { readonly kind: 'replay'; readonly file: StoredFile };

/**
 * Reads the content of one file to its end and stores it. After that {@link settleUpload} makes it a file. If the rest of the request turns
 * out to be bad, {@link discardUpload} removes it instead.
 *
 * Nothing is written before the first part is full or the content has ended, so most bad requests leave nothing to remove. Content whose
 * bytes so far do not fit is refused then. Only the object is written. If we die after that, or the storage reports a failure but stores
 * the object, an object is left. No link leads to it, and no account is charged for it. The walk of the bucket removes it (decision 0024).
 * @throws ApiError `unauthorized` when the account is gone; `file_too_large`; `storage_limit_exceeded`, or `rate_limit_exceeded` for the
 *   bytes of the day, when it cannot fit; `idempotency_conflict`; and every error of the content.
 */
export async function stageUpload(
  stores: StagingStores,
  request: UploadRequest,
  clock: () => number = Date.now,
): Promise<StagedUpload> {
  const { accountId, idempotencyKey, limits } = request;
  // The account is read before the record. So if the account was charged for an earlier request with this key, the record of that request
  // is found as well.
  const account = await getAccount(stores.accounts, accountId);
  const earlier =
    idempotencyKey === undefined ? undefined : await stores.idempotency.get(accountId, idempotencyKey, clock());
  const content = new MeasuredContent(request.content, {
    maxBytes: request.maxBytes,
    isHashed: idempotencyKey !== undefined,
  });
  const parts = inParts(content, PART_BYTES);
  if (earlier) return replayOf(earlier, { request, account, content, parts, clock });
  const first = (await parts.next()).value as Part;
  const now = clock();
  const refusal = refusalOf(account, limits, { bytes: content.bytes, now });
  if (refusal) throw refusalError(refusal, now, factsOf(account, limits, { bytes: content.bytes, now }));
  const file = describe(request, clock());
  await store(stores.objects, file, first, parts);
  return {
    kind: 'stored',
    file: { ...file, sizeBytes: content.bytes },
    allowance: { limits, known: account },
    ...(idempotencyKey !== undefined && {
      claim: { key: idempotencyKey, fingerprint: fingerprintOf(file, content), claimedAt: clock() },
    }),
  };
}

interface Arriving {
  readonly request: UploadRequest;
  readonly account: Account;
  readonly content: MeasuredContent;
  readonly parts: AsyncIterable<Part>;
  readonly clock: () => number;
}

/** Reads the whole content, because only its hash shows whether it is the content for which the key was used. */
async function replayOf(
  earlier: IdempotencyRecord,
  { request, account, content, parts, clock }: Arriving,
): Promise<StagedUpload> {
  const now = clock();
  if (isRepeatingTooMuch(account, request.limits, now)) {
    throw refusalError('day used up', now, factsOf(account, request.limits, { bytes: content.bytes, now }));
  }
  for await (const _ of parts);
  return { kind: 'replay', file: replay(earlier, fingerprintOf(describe(request, clock()), content)) };
}

type FileToStore = Omit<StoredFile, 'createdAt' | 'sizeBytes'>;

function describe({ accountId, clientName, declaredType }: UploadRequest, now: number): FileToStore {
  const mimeType = mediaType(declaredType, clientName ?? '');
  return { accountId, id: uuidv7(now), name: cleanFileName(clientName, mimeType), mimeType, objectKey: newObjectKey() };
}

function fingerprintOf({ name, mimeType }: FileToStore, content: MeasuredContent): string {
  return fingerprint({ via: 'form', name, mimeType, sizeBytes: content.bytes, checksum: content.digest() });
}

async function store(objects: ObjectStore, file: FileToStore, first: Part, rest: AsyncIterable<Part>): Promise<void> {
  const { accountId, id, name, mimeType, objectKey } = file;
  const description = { owner: { accountId, id }, mimeType, contentDisposition: contentDisposition(name, mimeType) };
  if (first.isLast) await objects.put(objectKey, first.bytes, description);
  else await objects.putInParts(objectKey, bytesOf(first, rest), description);
}

async function* bytesOf(first: Part, rest: AsyncIterable<Part>): AsyncGenerator<Uint8Array, void> {
  yield first.bytes;
  for await (const { bytes } of rest) yield bytes;
}

/** Removes the object of an upload that can no longer become a file. If this fails or we die, the walk of the bucket does it. */
export async function discardUpload(
  { objects }: Pick<StagingStores, 'objects'>,
  { id, objectKey }: Pick<StoredFile, 'id' | 'objectKey'>,
): Promise<void> {
  await briefly(() => objects.remove(objectKey)).catch((error) => {
    log('warn', 'object not removed; the walk of the bucket will', { fileId: id, ...describeError(error) });
  });
}

/** Passes on the content of a file, and measures its length and, if `isHashed`, its SHA-256. */
class MeasuredContent implements AsyncIterable<Uint8Array> {
  readonly #content: AsyncIterable<Uint8Array>;
  readonly #maxBytes: number;
  readonly #hash: Hash | undefined;
  /** Bytes passed on so far. */
  bytes = 0;
  constructor(content: AsyncIterable<Uint8Array>, options: { maxBytes: number; isHashed: boolean }) {
    this.#content = content;
    this.#maxBytes = options.maxBytes;
    this.#hash = options.isHashed ? createHash('sha256') : undefined;
  }

  /** @throws ApiError `file_too_large` at the first byte beyond the limit, and every error of the content. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    for await (const chunk of this.#content) {
      this.bytes += chunk.length;
      if (this.bytes > this.#maxBytes) {
        throw new ApiError('file_too_large', { facts: { bytes: this.bytes, limit_bytes: this.#maxBytes } });
      }
      this.#hash?.update(chunk);
      yield chunk;
    }
  }

  /** SHA-256 of all content, in hex; undefined unless `isHashed`. Call it once, at the end. */
  digest(): string | undefined {
    return this.#hash?.digest('hex');
  }
}
