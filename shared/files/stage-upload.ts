import { type Account, type AccountStore, getAccount } from '../accounts/account.ts';
import {
  type AccountLimits,
  type Allowance,
  isRepeatingTooMuch,
  refusalError,
  refusalOf,
} from '../accounts/allowance.ts';
import { uuidv7 } from '../ids.ts';
import { contentDisposition } from './content-disposition.ts';
import type { IdempotencyClaim, PendingUpload, StoredFile } from './file.ts';
import { cleanFileName } from './file-name.ts';
import type { FileStore, IdempotencyRecord, IdempotencyStore } from './file-store.ts';
import { fingerprint, replay } from './idempotency.ts';
import { MeasuredContent } from './measured-content.ts';
import { mediaType } from './media-type.ts';
import { newPublicKey } from './object-key.ts';
import { type ObjectStore, PartsLeft } from './object-store.ts';
import { inParts, PART_BYTES, type Part } from './parts.ts';
import { discardUpload, renewingLease } from './pending-upload.ts';

export interface StagingStores {
  readonly accounts: AccountStore;
  readonly files: FileStore;
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
  /** The content has at least this many bytes, as far as is known before it is read. */
  readonly leastBytes: number;
  readonly maxBytes: number;
  readonly limits: AccountLimits;
  /** The upload is given up when no byte has arrived for this long. */
  readonly leaseMs: number;
  readonly idempotencyKey?: string | undefined;
  /** What {@link readStanding} finds for the same account and key, if it was called already. */
  readonly standing?: Promise<Standing>;
}

/** What an upload finds before it begins. */
export interface Standing {
  readonly account: Account;
  /** What the `Idempotency-Key` was used for. */
  readonly earlier?: IdempotencyRecord | undefined;
}

/** An upload whose bytes are stored but not charged yet; or the file that an earlier request with its key made. */
export type StagedUpload =
  | {
      readonly kind: 'stored';
      readonly upload: PendingUpload;
      readonly file: Omit<StoredFile, 'createdAt'>;
      readonly allowance: Allowance;
      readonly claim?: IdempotencyClaim;
    }
  | { readonly kind: 'replay'; readonly file: StoredFile };

/**
 * Reads the account and the record of the `Idempotency-Key` at the same time. So the usage may include a file of an earlier
 * request with the same key, whose record is not found: before an upload with a key is refused, the record is read again.
 * @throws ApiError `unauthorized` when the account is gone.
 */
export async function readStanding(
  stores: Pick<StagingStores, 'accounts' | 'idempotency'>,
  { accountId, idempotencyKey }: Pick<UploadRequest, 'accountId' | 'idempotencyKey'>,
  clock: () => number = Date.now,
): Promise<Standing> {
  const [account, earlier] = await Promise.all([
    getAccount(stores.accounts, accountId),
    idempotencyKey === undefined ? undefined : stores.idempotency.get(accountId, idempotencyKey, clock()),
  ]);
  return { account, earlier };
}

/**
 * Reads the content of one file to its end and stores it. After that {@link settleUpload} makes it a file; or
 * {@link discardUpload} removes it, when the rest of the request turns out to be bad.
 *
 * Content that cannot fit is refused before it is read, as far as its length is known then, and again when the first part is
 * full. Nothing is written before the first part is full or the content has ended, so most bad requests leave nothing to
 * remove. Then the row is written before the object: when we die between the two or after them, a pending row with a
 * deadline is left, and the sweeper removes both.
 * @throws ApiError `file_too_large`; `storage_limit_exceeded`, or `rate_limit_exceeded` for the bytes of the day, when it
 *   cannot fit; `idempotency_conflict`; and every error of the content. Then nothing is left behind once the sweeper has run.
 */
export async function stageUpload(
  stores: StagingStores,
  request: UploadRequest,
  clock: () => number = Date.now,
): Promise<StagedUpload> {
  const { idempotencyKey, limits } = request;
  const { account, earlier } = await (request.standing ?? readStanding(stores, request, clock));
  const content = new MeasuredContent(request.content, {
    maxBytes: request.maxBytes,
    isHashed: idempotencyKey !== undefined,
  });
  const parts = inParts(content, PART_BYTES);
  const arriving: Arriving = { request, account, content, parts, clock };
  if (earlier) return replayOf(earlier, arriving);
  const replayedAtOnce = await expectRoom(stores, arriving, request.leastBytes);
  if (replayedAtOnce) return replayedAtOnce;
  const first = (await parts.next()).value as Part;
  const replayed = await expectRoom(stores, arriving, content.bytes);
  if (replayed) return replayed;
  const file = describe(request, clock());
  const upload = await store(stores, { file, first, parts, content, leaseMs: request.leaseMs, clock });
  return {
    kind: 'stored',
    upload,
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

/**
 * Checks that so many bytes can fit.
 * @returns undefined when they can. When they cannot because an earlier request with the same key has made the file: that file.
 * @throws ApiError `storage_limit_exceeded`, or `rate_limit_exceeded` for the bytes of the day.
 */
async function expectRoom(
  { idempotency }: Pick<StagingStores, 'idempotency'>,
  arriving: Arriving,
  bytes: number,
): Promise<StagedUpload | undefined> {
  const { request, account, clock } = arriving;
  const refusal = refusalOf(account, request.limits, { bytes, now: clock() });
  if (!refusal) return undefined;
  const { accountId, idempotencyKey } = request;
  const earlier = idempotencyKey === undefined ? undefined : await idempotency.get(accountId, idempotencyKey, clock());
  if (earlier) return replayOf(earlier, arriving);
  throw refusalError(refusal, clock());
}

/** Reads the whole content, because only then it is known whether it is the one that the key stands for. */
async function replayOf(
  earlier: IdempotencyRecord,
  { request, account, content, parts, clock }: Arriving,
): Promise<StagedUpload> {
  if (isRepeatingTooMuch(account, request.limits, clock())) throw refusalError('day used up', clock());
  for await (const _ of parts);
  return { kind: 'replay', file: replay(earlier, fingerprintOf(describe(request, clock()), content)) };
}

type Described = Omit<StoredFile, 'createdAt' | 'sizeBytes'>;

function describe({ accountId, clientName, declaredType }: UploadRequest, now: number): Described {
  const mimeType = mediaType(declaredType, clientName ?? '');
  return { accountId, id: uuidv7(now), name: cleanFileName(clientName, mimeType), mimeType, objectKey: newPublicKey() };
}

function fingerprintOf({ name, mimeType }: Described, content: MeasuredContent): string {
  return fingerprint({ via: 'form', name, mimeType, sizeBytes: content.bytes, checksum: content.digest() });
}

interface Storing {
  readonly file: Described;
  readonly first: Part;
  readonly parts: AsyncIterable<Part>;
  readonly content: MeasuredContent;
  readonly leaseMs: number;
  readonly clock: () => number;
}

/** Writes the row, then the object. */
async function store(stores: StagingStores, storing: Storing): Promise<PendingUpload> {
  const { file, first, parts, content, leaseMs, clock } = storing;
  const { accountId, id, name, mimeType, objectKey } = file;
  const upload: PendingUpload = {
    state: 'pending',
    via: 'form',
    accountId,
    id,
    objectKey,
    dueAt: clock() + leaseMs,
  };
  const description = { owner: { accountId, id }, mimeType, contentDisposition: contentDisposition(name, mimeType) };
  await stores.files.putPending(upload);
  content.onChunk = renewingLease(stores.files, upload, { leaseMs, clock });
  try {
    if (first.isLast) await stores.objects.put(objectKey, first.bytes, description);
    else await stores.objects.putInParts(objectKey, bytesOf(first, parts), description);
  } catch (error) {
    if (error instanceof PartsLeft) throw error.cause;
    // When the storage failed, our write may still happen, after anything that we could remove now: then the sweeper
    // removes it when the lease has ended.
    if (content.hasFailed) await discardUpload(stores, upload);
    throw error;
  }
  return upload;
}

async function* bytesOf(first: Part, rest: AsyncIterable<Part>): AsyncGenerator<Uint8Array, void> {
  yield first.bytes;
  for await (const { bytes } of rest) yield bytes;
}
