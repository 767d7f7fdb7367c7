import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { createRouter, stringifySearchWith } from '@tanstack/react-router';
import { FileHostingError, type Profile } from '../../../clients/typescript/src/index.ts';
import { failureOf } from '../api/failure.ts';
import { FILES, profileQuery, refreshQueries } from '../api/queries.ts';
import { broadcastSession, onSessionChange } from '../login/session-channel.ts';
import { strings } from '../strings.ts';
import { UploadQueue } from '../uploads/upload-queue.ts';
import { routeTree } from './routes.tsx';

/** Goes to the login page when a request shows that the session has ended; after the login the user returns here. */
function onError(error: unknown): void {
  const failure = failureOf(error);
  if (failure === 'unauthorized') toLogin();
  // Something else has used the storage, so the free space that is shown is out of date.
  if (failure === 'storage_limit_exceeded') void refreshQueries(queryClient, profileQuery);
}

/** Passes the logged-in account on to the upload queue and to the other tabs. */
function onProfile(profile: Profile): void {
  uploads.setAccount(profile);
  broadcastSession(profile.id);
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
      // Without a network, requests fail visibly instead of pausing. A paused mutation could still run after the user has given it up.
      networkMode: 'always',
      refetchOnReconnect: true,
      retry: (failures, error) => error instanceof FileHostingError && error.isTemporary && failures < 3,
      retryDelay: (failures, error) =>
        1_000 * ((error instanceof FileHostingError && error.retryAfter) || 2 ** (failures - 1)),
    },
    mutations: { networkMode: 'always' },
  },
});

/** How often lists are refetched while many files are being stored: each refetch counts for the rate limit. */
const REFRESH_MS = 2_000;
let refreshing: number | undefined;

function refreshSoon(): void {
  // After the last file nothing has to be waited for.
  if (refreshing !== undefined && uploads.isBusy) return;
  window.clearTimeout(refreshing);
  refreshing = window.setTimeout(
    () => {
      refreshing = undefined;
      void refreshQueries(queryClient, { queryKey: FILES });
      void refreshQueries(queryClient, profileQuery);
    },
    uploads.isBusy ? REFRESH_MS : 0,
  );
}

const uploads = new UploadQueue({ onStored: refreshSoon, onError });

export const router = createRouter({
  routeTree,
  basepath: '/dashboard',
  context: { queryClient, uploads },
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
  // Search parameters are plain text. The router's own parsers would make numbers, true and false of some texts.
  parseSearch: (query) => Object.fromEntries(new URLSearchParams(query)),
  stringifySearch: stringifySearchWith(String),
});

/** When another tab logs in or out, this one stops showing the previous account. */
onSessionChange((accountId) => {
  const known = queryClient.getQueryData(profileQuery.queryKey);
  if (known === undefined || known.id === accountId) return;
  if (accountId === null) return toLogin();
  const previous = uploads.waitingOf(accountId);
  // Running uploads would become files of the new account, and the reload would ask the user to confirm it.
  void uploads.cancelAll();
  if (previous) window.alert(strings.uploads.cancelledOf(previous.email));
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
