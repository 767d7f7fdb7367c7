import { FileHosting } from '../../../clients/typescript/src/index.ts';

export const API = '/api/v1';

/** The client of the API, with the cookie of the session. Queries are repeated by their cache, so it repeats nothing by itself. */
export const hosting = new FileHosting({ retries: 0 });
