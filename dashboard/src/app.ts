import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { createRouter } from '@tanstack/react-router';
import { Failure } from './api/failure.ts';
import { FILES, profileQuery } from './api/queries.ts';
import { routeTree } from './routes.tsx';
import { UploadQueue } from './uploads/upload-queue.ts';

/** Wherever the session is found to have ended: to the login, and afterwards back here. */
function onError(error: unknown): void {
  if (error instanceof Failure && error.code === 'unauthorized') toLogin();
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

export const uploads = new UploadQueue({
  onStored: () => {
    void queryClient.invalidateQueries({ queryKey: FILES });
    void queryClient.invalidateQueries(profileQuery);
  },
  onError,
});

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
