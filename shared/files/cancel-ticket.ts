import { ApiError, serviceUnavailable } from '../errors.ts';
import { describeError, log } from '../log.ts';
import { briefly, checkDeadline, type Deadline } from '../time-limit.ts';
import type { FileRef } from './file.ts';
import { findTicket } from './file-record.ts';
import { incomingKey } from './object-key.ts';
import type { ObjectStore } from './object-store.ts';
import type { ReleaseStore, TicketStore } from './stores.ts';

/** A repeated request for the ticket may renew it after we have read it. */
const TRIES = 3;

export interface CancellingStores {
  readonly objects: ObjectStore;
  readonly releases: ReleaseStore;
  readonly tickets: TicketStore;
}

/**
 * Cancels a ticket: one transaction gives its reservation back, and the ticket can no longer become a file. Of two simultaneous requests,
 * one succeeds and the other gets `not_found`.
 *
 * Then an empty object is stored under the ticket's key in `incoming/`, unless its bytes are there. If this write fails, or we die before
 * it, one PUT may still succeed. The bytes of that PUT become no file, and are removed when the ticket ends. Until then S3 refuses further
 * PUTs.
 * @throws ApiError `not_found` for an unknown id, an id of another account, and a ticket that is no longer pending: it became a file, or was
 *   cancelled, or has ended; `service_unavailable`.
 */
export async function cancelTicket(stores: CancellingStores, ref: FileRef, deadline: Deadline): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    checkDeadline(deadline);
    const ticket = await findTicket(stores, ref);
    if (ticket?.state !== 'pending') {
      const detail = ticket ? `the ticket is ${ticket.state}` : 'the account has no such ticket';
      throw new ApiError('not_found', { detail });
    }
    if ((await stores.releases.releaseTicket(ticket, 'cancelled', deadline)) !== 'released') continue;
    await briefly(() => stores.objects.occupy(incomingKey(ticket))).catch((error) => {
      log('warn', 'PUT of a cancelled ticket not blocked', { fileId: ref.id, ...describeError(error) });
    });
    return;
  }
  throw serviceUnavailable({ detail: 'the ticket changed each time' });
}
