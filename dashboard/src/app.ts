import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { createRouter } from '@tanstack/react-router';
import { Failure } from './api/failure.ts';
import { FILES, profileQuery } from './api/queries.ts';
import { routeTree } from './routes.tsx';
import { UploadQueue } from './uploads/upload-queue.ts';

/** Wherever the session is found to have ended: to the login, and afterwards back here. */
function onError(error: unknown): void {
  if (!(error instanceof Failure)) return;
  if (error.code === 'unauthorized') toLogin();
  // Something else filled it meanwhile, and what is free would be told wrongly.
  if (error.code === 'storage_limit_exceeded') void queryClient.invalidateQueries(profileQuery);
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: (failures, error) => error instanceof Failure && error.isPassing && failures < 3,
      retryDelay: (failures, error) =>
        1_000 * ((error instanceof Failure && error.retryAfterSeconds) || 2 ** (failures - 1)),
    },
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
      void queryClient.invalidateQueries({ queryKey: FILES });
      void queryClient.invalidateQueries(profileQuery);
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
