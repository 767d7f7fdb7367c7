import { ROUTES } from '../../functions/routes.ts';
import { COMPLETING } from '../../functions/uploads/complete-upload.route.ts';
import { RATE_CLASSES } from '../../shared/contract/route.ts';
import type { Needs, Route, TableUse } from '../../shared/route.ts';
import type { BACKGROUND_ENTRIES } from '../bundle/entries.ts';

/** Authentication reads the credential once, and at times records its use. */
const BY_SESSION: readonly TableUse[] = [{ table: 'sessions', actions: ['GetItem', 'UpdateItem'] }];
const BY_KEY: readonly TableUse[] = [{ table: 'apiKeys', actions: ['GetItem', 'UpdateItem'] }];

/** What the function of a route needs: what its declaration says, and what the checks before its handler need. */
export function needsOf({ access, rateClass, needs }: Route): Needs {
  return allOf(
    access === 'public'
      ? {}
      : {
          tables: access === 'session' ? BY_SESSION : [...BY_KEY, ...BY_SESSION],
          // The cross-site check compares a request's origin with the app's.
          values: ['appUrl'],
        },
    rateClass === undefined
      ? {}
      : { tables: [{ table: 'rateLimits', actions: ['PutItem', 'UpdateItem'] }], limits: [RATE_CLASSES[rateClass]] },
    // The requests of a public route are counted by the address that the edge names; its secret shows that it is the edge.
    access === 'public' && rateClass !== undefined ? { secrets: ['originSecret'] } : {},
    needs,
  );
}

/** Joins needs; none replaces another. */
function allOf(...all: readonly Needs[]): Needs {
  return {
    tables: all.flatMap(({ tables = [] }) => tables),
    uploads: all.flatMap(({ uploads = [] }) => uploads),
    limits: all.flatMap(({ limits = [] }) => limits),
    secrets: all.flatMap(({ secrets = [] }) => secrets),
    values: all.flatMap(({ values = [] }) => values),
    optional: all.flatMap(({ optional = [] }) => optional),
    variables: Object.assign({}, ...all.map(({ variables }) => variables)),
  };
}

export const BACKGROUND_NEEDS: Readonly<Record<keyof typeof BACKGROUND_ENTRIES, Needs>> = {
  completeArrivedUpload: allOf(COMPLETING, { uploads: [{ actions: ['DeleteObject'], keys: ['incoming/*'] }] }),
  canary: { values: ['appUrl', 'canaryKey'] },
  sweep: {
    tables: [
      { table: 'files', actions: ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query'] },
      { table: 'files', actions: ['Query', 'Scan'], index: 'unfinished' },
      // The sweeper reads the names for the seals of leaves from this index.
      { table: 'files', actions: ['Query'], index: 'by_seq' },
      { table: 'accounts', actions: ['GetItem', 'UpdateItem'] },
    ],
    uploads: [
      { actions: ['GetObject', 'DeleteObject', 'AbortMultipartUpload'], keys: ['uploads/*'] },
      { actions: ['DeleteObject'], keys: ['incoming/*'] },
      { actions: ['ListBucket', 'ListBucketMultipartUploads'] },
    ],
  },
};

/** The streaming server handles only `POST /files`, like the function of that route. It stores large files in parts. */
export const UPLOAD_STREAM_NEEDS: Needs = allOf(needsOf(ROUTES.uploadFile), {
  uploads: [{ actions: ['AbortMultipartUpload'], keys: ['uploads/*'] }],
  secrets: ['originSecret'],
});
