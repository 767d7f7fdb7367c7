import { objectStore } from '../../shared/aws/object-store.ts';
import { releaseStore } from '../../shared/aws/release-store.ts';
import { ticketStore } from '../../shared/aws/ticket-store.ts';
import { cancelTicket } from '../../shared/files/cancel-ticket.ts';
import { ok } from '../../shared/http/response.ts';
import { apiHandler } from '../../shared/stack/api-handler.ts';
import { cancelUpload as route } from './cancel-upload.route.ts';

const stores = { objects: objectStore, releases: releaseStore, tickets: ticketStore };

/** DELETE /uploads/{id}: 200 `{id, deleted}`; 404 when it is absent, not the caller's, or no longer open. */
export const handler = apiHandler(route, async ({ caller: { accountId }, param, deadlineAt }) => {
  const id = param('id');
  await cancelTicket(stores, { accountId, id }, { deadlineAt });
  return ok({ id, deleted: true as const });
});
