import type { Route } from '../shared/route.ts';
import { createApiKey } from './api-keys/create-api-key.route.ts';
import { listApiKeys } from './api-keys/list-api-keys.route.ts';
import { revokeApiKey } from './api-keys/revoke-api-key.route.ts';
import { endSession } from './auth/end-session.route.ts';
import { endSessions } from './auth/end-sessions.route.ts';
import { finishLogin } from './auth/finish-login.route.ts';
import { getMe } from './auth/get-me.route.ts';
import { listSessions } from './auth/list-sessions.route.ts';
import { logout } from './auth/logout.route.ts';
import { startLogin } from './auth/start-login.route.ts';
import { deleteFile } from './files/delete-file.route.ts';
import { getFile } from './files/get-file.route.ts';
import { listFiles } from './files/list-files.route.ts';
import { uploadFile } from './files/upload-file.route.ts';
import { getUsage } from './get-usage.route.ts';
import { health } from './health.route.ts';
import { cancelUpload } from './uploads/cancel-upload.route.ts';
import { completeUpload } from './uploads/complete-upload.route.ts';
import { createUpload } from './uploads/create-upload.route.ts';

const DECLARED = {
  health,
  startLogin,
  finishLogin,
  getMe,
  logout,
  listSessions,
  endSession,
  endSessions,
  getUsage,
  listFiles,
  uploadFile,
  getFile,
  deleteFile,
  createUpload,
  completeUpload,
  cancelUpload,
  listApiKeys,
  createApiKey,
  revokeApiKey,
} as const;

export type RouteName = keyof typeof DECLARED;

/** Every route, by its name, in the order of the documents. `npm run check` fails for a declaration that is not here. */
export const ROUTES: { readonly [Name in RouteName]: Route & { readonly name: Name } } = DECLARED;
