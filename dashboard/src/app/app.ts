import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { createRouter, parseSearchWith, stringifySearchWith } from '@tanstack/react-router';
import type { Profile } from '../../../shared/answers.ts';
import { Failure } from '../api/failure.ts';
import { askAnew, FILES, profileQuery } from '../api/queries.ts';
import { onSession, tellOfSession } from '../login/session-news.ts';
import { UploadQueue } from '../uploads/upload-queue.ts';
import { routeTree } from './routes.tsx';

/** Wherever the session is found to have ended: to the login, and afterwards back here. */
function onError(error: unknown): void {
  if (!(error instanceof Failure)) return;
  if (error.code === 'unauthorized') toLogin();
  // Something else filled it meanwhile, and what is free would be told wrongly.
  if (error.code === 'storage_limit_exceeded') void askAnew(queryClient, profileQuery);
}

/** Each answer to "who is logged in?" is told to all who must know. */
function onProfile({ id }: Profile): void {
  uploads.setAccount(id);
  tellOfSession(id);
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError,
    onSuccess: (data, { queryKey }) => {
      if (queryKey[0] === profileQuery.queryKey[0]) onProfile(data as Profile);
    },
  }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // Without a network they fail, and say so, rather than wait for it unseen; what somebody has given up by then must not
      // happen after all.
      networkMode: 'always',
      refetchOnReconnect: true,
      retry: (failures, error) => error instanceof Failure && error.isPassing && failures < 3,
      retryDelay: (failures, error) =>
        1_000 * ((error instanceof Failure && error.retryAfterSeconds) || 2 ** (failures - 1)),
    },
    mutations: { networkMode: 'always' },
  },
});

/** While many files are stored one after the other, lists are asked for anew this often: each costs one of the limit's. */
const REFRESH_MS = 2_000;
let isRefreshing = false;

function refreshSoon(): void {
  if (isRefreshing) return;
  isRefreshing = true;
  setTimeout(
    () => {
      isRefreshing = false;
      void askAnew(queryClient, { queryKey: FILES });
      void askAnew(queryClient, profileQuery);
    },
    uploads.isBusy ? REFRESH_MS : 0,
  );
}

export const uploads = new UploadQueue({ onStored: refreshSoon, onError });

export const router = createRouter({
  routeTree,
  basepath: '/dashboard',
  context: { queryClient, uploads },
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
  // What is in an address is text; the router would take `007` or `{}` for JSON.
  parseSearch: parseSearchWith((value) => value),
  stringifySearch: stringifySearchWith(String),
});

/** In another tab somebody has logged in or out: this one shows nothing more of somebody else. */
onSession((accountId) => {
  const known = queryClient.getQueryData(profileQuery.queryKey);
  if (known === undefined || known.id === accountId) return;
  if (accountId === null) return toLogin();
  // Before the reload, which would ask whether to give up uploads that are nobody's here any more.
  uploads.setAccount(accountId);
  window.location.reload();
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

function toLogin(): void {
  const { pathname, href } = router.state.location;
  if (pathname === '/login') return;
  void router.navigate({ to: '/login', search: { return: href }, replace: true }).then(() => queryClient.clear());
}
