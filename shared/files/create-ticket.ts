import { type AccountStore, getAccount } from '../accounts/account.ts';
import { type AccountLimits, factsOf, refusalError, refusalOf } from '../accounts/allowance.ts';
import { DIRECT_URL_TTL_MS, directTicketMs } from '../contract/limits.ts';
import { CHECKSUM_SHA256 } from '../contract/request-rules.ts';
import { ApiError, serviceUnavailable } from '../errors.ts';
import { describeError, log } from '../log.ts';
import { checkDeadline, type Deadline, WRITE_PATIENCE_MS } from '../time-limit.ts';
import { newTicketId, type StoredFile, type Ticket } from './file.ts';
import { cleanFileName } from './file-name.ts';
import { checkFingerprint, fingerprint } from './idempotency.ts';
import { mediaType } from './media-type.ts';
import { incomingKey } from './object-key.ts';
import type { SignedPut, SignUpload } from './object-store.ts';
import type { IdempotencyStore, NewClaim, ReleaseStore, SettlementStore, TicketStore } from './stores.ts';

interface TicketStores {
  readonly accounts: AccountStore;
  readonly idempotency: IdempotencyStore;
  readonly settlements: SettlementStore;
  readonly releases: ReleaseStore;
  readonly tickets: TicketStore;
  readonly signUpload: SignUpload;
}

/** The file that a client wants to upload directly to the bucket. */
interface TicketRequest {
  readonly name: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** Base64 of the 32 bytes of its SHA-256; S3 checks it. */
  readonly checksumSha256?: string;
}

export interface TicketInput extends Deadline {
  readonly accountId: string;
  readonly request: TicketRequest;
  readonly limits: AccountLimits;
  readonly idempotencyKey?: string | undefined;
}

/** A ticket as its client gets it. */
export interface IssuedTicket {
  readonly id: string;
  readonly put: SignedPut;
  /** The PUT must begin before this time, in epoch milliseconds. */
  readonly expiresAt: number;
}

type TicketAnswer =
  | { readonly kind: 'ticket'; readonly ticket: IssuedTicket; readonly isReplay: boolean }
  /** An earlier ticket with the same `Idempotency-Key` has become this file. */
  | { readonly kind: 'file'; readonly file: StoredFile; readonly isReplay: true };

const SHA256_BASE64 = new RegExp(CHECKSUM_SHA256.pattern);

/**
 * Reads the body `{name, mime_type, size_bytes, checksum_sha256?}`; other members are ignored. Name and type are treated
 * as those of a form's part.
 * @throws ApiError `invalid_request`, `file_too_large`.
 */
export function parseTicketRequest(body: Readonly<Record<string, unknown>>, maxBytes: number): TicketRequest {
  const { name, mime_type: declaredType, size_bytes: sizeBytes, checksum_sha256: checksumSha256 } = body;
  if (typeof name !== 'string' || typeof declaredType !== 'string') {
    const field = typeof name === 'string' ? 'mime_type' : 'name';
    throw new ApiError('invalid_request', { detail: `${field} is missing or is not a text` });
  }
  if (typeof sizeBytes !== 'number' || !Number.isSafeInteger(sizeBytes) || sizeBytes < 0) {
    throw new ApiError('invalid_request', { detail: 'size_bytes is not a whole number of 0 or more' });
  }
  if (checksumSha256 !== undefined && !(typeof checksumSha256 === 'string' && SHA256_BASE64.test(checksumSha256))) {
    throw new ApiError('invalid_request', { detail: 'checksum_sha256 is not the base64 of 32 bytes' });
  }
  if (sizeBytes > maxBytes) {
    throw new ApiError('file_too_large', { facts: { bytes: sizeBytes, limit_bytes: maxBytes } });
  }
  const mimeType = mediaType(declaredType, name);
  return {
    name: cleanFileName(name, mimeType),
    mimeType,
    sizeBytes,
    ...(checksumSha256 !== undefined && { checksumSha256 }),
  };
}

/** If other requests with the same key come first this many times, we answer `service_unavailable`. */
const TRIES = 3;

/**
 * Reserves the size of a file, and signs the URL for its PUT. One transaction writes the reservation, the row and the idempotency record.
 * If we die after that transaction, the client does not get the ticket. Then the sweeper gives the reservation back when the ticket ends.
 * @throws ApiError `storage_limit_exceeded`, `rate_limit_exceeded` for the bytes of the day, `idempotency_conflict`,
 *   `service_unavailable`.
 */
export async function createTicket(
  stores: TicketStores,
  input: TicketInput,
  clock: () => number = Date.now,
): Promise<TicketAnswer> {
  for (let tries = 0; tries < TRIES; tries++) {
    checkDeadline(input);
    // The account is read before the record. So if the account was charged for an earlier request with this key, the record of that request
    // is found as well.
    const account = await getAccount(stores.accounts, input.accountId);
    const { answer, claim } = await useKey(stores, input, clock());
    if (answer) return answer;
    const { limits } = input;
    const now = clock();
    const bytes = input.request.sizeBytes;
    const refusal = refusalOf(account, limits, { bytes, now });
    if (refusal) throw refusalError(refusal, now, factsOf(account, limits, { bytes, now }));
    const ticket = newTicket(input, claim, now);
    const reservation = { ticket, allowance: { limits, known: account }, now, ...(claim && { claim }) };
    const outcome = await reserve(stores, reservation, input);
    if (outcome === 'reserved') return { kind: 'ticket', ticket: await sign(stores, ticket, clock()), isReplay: false };
    // Another request with the same key may have used the room. Then the next try finds the record of that request.
    if (outcome !== 'key taken' && !claim) throw refusalError(outcome, now, { bytes });
  }
  throw serviceUnavailable({ detail: 'other requests took the key each time' });
}

/**
 * Finds the ticket or file that the request's `Idempotency-Key` stands for. If there is none, returns the claim that the new ticket makes
 * on the key.
 */
async function useKey(
  stores: TicketStores,
  { accountId, request, idempotencyKey }: TicketInput,
  now: number,
): Promise<{ answer?: TicketAnswer; claim?: NewClaim }> {
  if (idempotencyKey === undefined) return {};
  const asked = fingerprint({ via: 'ticket', ...request, checksum: request.checksumSha256 });
  const claim = { key: idempotencyKey, fingerprint: asked, claimedAt: now };
  const earlier = await stores.idempotency.get(accountId, idempotencyKey, now);
  if (!earlier) return { claim };
  checkFingerprint(earlier, asked);
  if (earlier.file) return { answer: { kind: 'file', file: earlier.file, isReplay: true } };
  const ticket = await renewTicket(stores, { accountId, id: earlier.fileId }, now);
  if (ticket) return { answer: { kind: 'ticket', ticket, isReplay: true } };
  // The earlier ticket was cancelled or refused, or has ended, so the new ticket may take its place in the record.
  return { claim: { ...claim, replacesTicket: earlier.fileId } };
}

function newTicket({ accountId, request }: TicketInput, claim: NewClaim | undefined, now: number): Ticket {
  const lifetimeMs = directTicketMs(request.sizeBytes);
  return {
    state: 'pending',
    accountId,
    id: newTicketId(now, lifetimeMs),
    ...request,
    attemptKeys: [],
    ...(claim && { idempotency: { key: claim.key, fingerprint: claim.fingerprint, claimedAt: claim.claimedAt } }),
    endsAt: now + lifetimeMs,
  };
}

async function reserve(
  stores: TicketStores,
  reservation: Parameters<SettlementStore['reserve']>[0],
  deadline: TicketInput,
) {
  try {
    return await stores.settlements.reserve(reservation, deadline);
  } catch (error) {
    // The transaction may have succeeded although its answer was lost. A client that gets an error must own nothing, so we give the
    // reservation back now. If that fails, the sweeper does it when the ticket ends.
    const { ticket } = reservation;
    // This write has its own deadline, because the reservation is given back even when the deadline of the request has passed.
    const giveBack = { deadlineAt: Date.now() + WRITE_PATIENCE_MS };
    await stores.releases.releaseTicket(ticket, 'cancelled', giveBack).catch((failure) => {
      log('warn', 'reservation not given back; left to the sweeper', { fileId: ticket.id, ...describeError(failure) });
    });
    throw error;
  }
}

/**
 * Signs a new URL for a ticket, and makes the ticket end later. So the reservation lasts for as long as a PUT to the new URL may take.
 * @returns undefined when the ticket is no longer pending.
 */
async function renewTicket(stores: TicketStores, ref: { accountId: string; id: string }, now: number) {
  const ticket = await stores.tickets.get(ref);
  if (ticket?.state !== 'pending') return undefined;
  // Later in any case, even if our clock is behind: the request that has made the ticket gives it back if its answer is lost, unless the
  // ticket was renewed.
  const endsAt = Math.max(now + directTicketMs(ticket.sizeBytes), ticket.endsAt + 1);
  const isPending = await stores.tickets.renew(ref, endsAt);
  return isPending ? sign(stores, ticket, now) : undefined;
}

async function sign(stores: TicketStores, ticket: Ticket, now: number): Promise<IssuedTicket> {
  const { id, mimeType, sizeBytes, checksumSha256 } = ticket;
  const put = await stores.signUpload(
    { key: incomingKey(ticket), mimeType, sizeBytes, ...(checksumSha256 !== undefined && { checksumSha256 }) },
    { now, lifetimeMs: DIRECT_URL_TTL_MS },
  );
  return { id, put, expiresAt: now + DIRECT_URL_TTL_MS };
}
