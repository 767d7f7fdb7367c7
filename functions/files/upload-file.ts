import { apiHandler } from '../../shared/stack/api-handler.ts';
import { receiveUpload } from '../../shared/stack/receive-upload.ts';
import { uploadFile as route } from './upload-file.route.ts';

/**
 * POST /files with a form: 201 and the file's record; 400, 403 `storage_limit_exceeded`, 409 `idempotency_conflict`, 413, 415, 429 for the
 * bytes of the day.
 */
export const handler = apiHandler(route, receiveUpload);
