import type { UploadTicket } from '../shared/answers.ts';
import { accountStore } from '../shared/aws/account-store.ts';
import { idempotencyStore } from '../shared/aws/idempotency-store.ts';
import { releaseStore } from '../shared/aws/release-store.ts';
import { settlementStore } from '../shared/aws/settlement-store.ts';
import { signUpload } from '../shared/aws/sign-upload.ts';
import { ticketStore } from '../shared/aws/ticket-store.ts';
import { limit, required } from '../shared/env.ts';
import { createTicket, parseTicketRequest } from '../shared/files/create-ticket.ts';
import { toFileRecord } from '../shared/files/file-record.ts';
import { idempotencyKey, isJson, jsonBody } from '../shared/http/request.ts';
import { type ApiResult, accepted, created, replayedHeader } from '../shared/http/response.ts';
import { type ApiRequest, apiHandler } from '../shared/stack/api-handler.ts';
import { accountLimits, receiveUpload } from '../shared/stack/receive-upload.ts';

const stores = {
  accounts: accountStore,
  idempotency: idempotencyStore,
  settlements: settlementStore,
  releases: releaseStore,
  signUpload,
  tickets: ticketStore,
};
const maxBytes = limit('MAX_UPLOAD_SIZE_BYTES');
const cdnUrl = required('CDN_URL');

/**
 * POST /files.
 * - With a form: 201 and the file's record.
 * - With JSON: 202 and the ticket of a direct upload. If the `Idempotency-Key` stands for a file already: 201 and the file's record.
 * - Errors: 400, 403 `storage_limit_exceeded`, 409 `idempotency_conflict`, 413, 415, 429 for the bytes of the day.
 */
export const handler = apiHandler('uploadFile', (request) =>
  isJson(request.event) ? issueTicket(request) : receiveUpload(request),
);

async function issueTicket({ event, caller, deadlineAt }: ApiRequest): Promise<ApiResult> {
  const answer = await createTicket(stores, {
    accountId: caller.accountId,
    request: parseTicketRequest(jsonBody(event), maxBytes),
    limits: accountLimits,
    idempotencyKey: idempotencyKey(event),
    deadlineAt,
  });
  if (answer.kind === 'file') {
    return created(toFileRecord(answer.file, cdnUrl), `/api/v1/files/${answer.file.id}`, replayedHeader(true));
  }
  const { id, put, expiresAt } = answer.ticket;
  const ticket: UploadTicket = {
    id,
    upload: { method: 'PUT', ...put },
    expires_at: new Date(expiresAt).toISOString(),
  };
  return accepted(ticket, `/api/v1/files/${id}`, replayedHeader(answer.isReplay));
}
