import { FileHosting } from '../../../clients/typescript/src/index.ts';

export const API = '/api/v1';

/** The client of the API, with the cookie of the session. The cache of queries repeats them, so the client repeats nothing by itself. */
export const hosting = new FileHosting({ retries: 0 });
