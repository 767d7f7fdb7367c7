import { countedSettlements } from '../files/settle-upload.ts';
import { accountStore } from './account-store.ts';
import { fileStore } from './file-store.ts';
import { objectStore } from './object-store.ts';
import { releaseStore } from './release-store.ts';
import { settlementStore } from './settlement-store.ts';
import { ticketStore } from './ticket-store.ts';

/** The stores for completing a direct upload, by its client's request or by the event that its bytes have arrived. */
export const completionStores = {
  accounts: accountStore,
  files: fileStore,
  objects: objectStore,
  releases: releaseStore,
  settlements: countedSettlements(settlementStore, 'direct'),
  tickets: ticketStore,
};
