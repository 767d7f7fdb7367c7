import { accountStore } from '../../shared/aws/account-store.ts';
import { idempotencyStore } from '../../shared/aws/idempotency-store.ts';
import { releaseStore } from '../../shared/aws/release-store.ts';
import { settlementStore } from '../../shared/aws/settlement-store.ts';
import { signUpload } from '../../shared/aws/sign-upload.ts';
import { ticketStore } from '../../shared/aws/ticket-store.ts';
import { limit, required } from '../../shared/env.ts';
import { createTicket, parseTicketRequest } from '../../shared/files/create-ticket.ts';
import { toFileRecord } from '../../shared/files/file-record.ts';
import { idempotencyKey, jsonBody } from '../../shared/http/request.ts';
import { accepted, created, replayedHeader } from '../../shared/http/response.ts';
import { accountLimits } from '../../shared/stack/account-limits.ts';
import { apiHandler } from '../../shared/stack/api-handler.ts';
import { createUpload as route } from './create-upload.route.ts';

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
 * POST /uploads: 202 and the ticket of a direct upload; 201 and `{id, file}` if the `Idempotency-Key` stands for a complete upload;
 * 400, 403 `storage_limit_exceeded`, 409 `idempotency_conflict`, 413, 415, 429 for the bytes of the day.
 */
export const handler = apiHandler(route, async ({ event, caller, deadlineAt }) => {
  const answer = await createTicket(stores, {
    accountId: caller.accountId,
    request: parseTicketRequest(jsonBody(event), maxBytes),
    limits: accountLimits,
    idempotencyKey: idempotencyKey(event),
    deadlineAt,
  });
  if (answer.kind === 'file') {
    const file = toFileRecord(answer.file, cdnUrl);
    return created({ id: file.id, file }, `/api/v1/files/${file.id}`, replayedHeader(true));
  }
  const { id, put, expiresAt } = answer.ticket;
  const ticket = { id, upload: { method: 'PUT', ...put }, expires_at: new Date(expiresAt).toISOString() };
  return accepted(ticket, `/api/v1/uploads/${id}`, replayedHeader(answer.isReplay));
});
