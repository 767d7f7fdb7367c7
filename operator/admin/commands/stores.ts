import { accountStore } from '../../../shared/aws/account-store.ts';
import { administrationStore, keyMarkStore } from '../../../shared/aws/administration-store.ts';
import { apiKeyStore } from '../../../shared/aws/api-key-store.ts';
import { auditStore } from '../../../shared/aws/audit-store.ts';
import { fileStore } from '../../../shared/aws/file-store.ts';
import { objectInventory, objectStore } from '../../../shared/aws/object-store.ts';
import { putSecretParameter } from '../../../shared/aws/parameters.ts';
import { releaseStore } from '../../../shared/aws/release-store.ts';
import { sessionStore } from '../../../shared/aws/session-store.ts';
import { ticketStore } from '../../../shared/aws/ticket-store.ts';
import { limit, required } from '../../../shared/env.ts';

/**
 * The stores of all commands. This file reads environment variables when it loads, so only main.ts imports it, after main.ts has set these
 * variables.
 */
export const stores = {
  accounts: accountStore,
  administration: administrationStore,
  audit: auditStore,
  canaryKey: { put: (key: string) => putSecretParameter(required('CANARY_KEY_PARAMETER'), key) },
  files: fileStore,
  inventory: objectInventory,
  keyMarks: keyMarkStore,
  keys: apiKeyStore,
  objects: objectStore,
  releases: releaseStore,
  sessions: sessionStore,
  tickets: ticketStore,
};

/** The base URLs of links: first the one that the API puts into links, then the one under cloudfront.net, which works as well. */
export const cdnUrls = [required('CDN_URL'), required('CDN_DISTRIBUTION_URL')] as const;
export const defaultStorageLimitBytes = limit('STORAGE_LIMIT_BYTES');
