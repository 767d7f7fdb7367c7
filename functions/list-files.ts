import type { FilesPage } from '../shared/answers.ts';
import { accountStore } from '../shared/aws/account-store.ts';
import { listingStore } from '../shared/aws/listing-store.ts';
import { required } from '../shared/env.ts';
import { toFileRecord } from '../shared/files/file-record.ts';
import { beginListing, type ListingStart, listFiles, type PageRequest } from '../shared/files/list-files.ts';
import { queryInteger, queryText } from '../shared/http/request.ts';
import { ok } from '../shared/http/response.ts';
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, PAGE_MAX } from '../shared/limits.ts';
import { type ApiRequest, apiHandler } from '../shared/stack/api-handler.ts';

const stores = { accounts: accountStore, listing: listingStore };
const cdnUrl = required('CDN_URL');

/** GET /files: 200 `{items, page, limit, total}`, newest first; 400 for a `page` or `limit` out of bounds. */
export const handler = apiHandler<ListingStart>(
  'listFiles',
  async (request) => {
    const wanted = pageRequest(request);
    const { files, total } = await listFiles(stores, wanted, request.early);
    const items = files.map((file) => toFileRecord(file, cdnUrl));
    return ok({ items, page: wanted.page, limit: wanted.limit, total } satisfies FilesPage);
  },
  async (request) => beginListing(stores, pageRequest(request)),
);

/** @throws ApiError `invalid_request`. */
function pageRequest({ event, caller: { accountId } }: Pick<ApiRequest, 'event' | 'caller'>): PageRequest {
  return {
    accountId,
    page: queryInteger(event, 'page', { fallback: 1, min: 1, max: PAGE_MAX }),
    limit: queryInteger(event, 'limit', { fallback: PAGE_LIMIT_DEFAULT, min: 1, max: PAGE_LIMIT_MAX }),
    search: queryText(event, 'search'),
  };
}
