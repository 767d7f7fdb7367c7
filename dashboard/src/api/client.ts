import { FileHosting } from '../../../clients/typescript/src/index.ts';

export const API = '/api/v1';

/**
 * The client of the API, with the cookie of the session. The cache of queries repeats failed queries. So the client itself repeats only
 * calls that set a number of retries: uploads and deletions.
 */
export const hosting = new FileHosting({ retries: 0 });
