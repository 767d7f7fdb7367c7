import { accountStore } from '../../shared/aws/account-store.ts';
import { listingStore } from '../../shared/aws/listing-store.ts';
import { sealStore } from '../../shared/aws/seal-store.ts';
import { LIST_QUERY } from '../../shared/contract/request-rules.ts';
import { required } from '../../shared/env.ts';
import { toFileRecord } from '../../shared/files/file-record.ts';
import { listFiles, type PageRequest } from '../../shared/files/list-files.ts';
import { queryInteger, queryText } from '../../shared/http/request.ts';
import { ok } from '../../shared/http/response.ts';
import { type ApiRequest, apiHandler } from '../../shared/stack/api-handler.ts';
import { listFiles as route } from './list-files.route.ts';

const stores = { accounts: accountStore, listing: listingStore, seals: sealStore };
const cdnUrl = required('CDN_URL');

/** GET /files: 200 `{items, page, limit, total}`, newest first; 400 for a `page` or `limit` out of bounds, or a repeated parameter. */
export const handler = apiHandler(route, async (request) => {
  const wanted = pageRequest(request);
  const { files, total } = await listFiles(stores, wanted);
  const items = files.map((file) => toFileRecord(file, cdnUrl));
  return ok({ items, page: wanted.page, limit: wanted.limit, total });
});

/** @throws ApiError `invalid_request`. */
function pageRequest({ event, caller: { accountId } }: ApiRequest): PageRequest {
  return {
    accountId,
    page: queryInteger(event, 'page', LIST_QUERY.page),
    limit: queryInteger(event, 'limit', LIST_QUERY.limit),
    search: queryText(event, 'search'),
  };
}
