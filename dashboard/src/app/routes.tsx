import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, redirect } from '@tanstack/react-router';
import { failureOf } from '../api/failure.ts';
import { apiKeysQuery, filesQuery, profileQuery, sessionsQuery } from '../api/queries.ts';
import { ApiKeysPage } from '../api-keys/api-keys-page.tsx';
import { FilesPage } from '../files/files-page.tsx';
import type { FilesSearch } from '../files/pages.tsx';
import { LoginPage } from '../login/login-page.tsx';
import { isReturnTo, takeReturnTo } from '../login/return-to.ts';
import { LoadReferencePage, referencePageQuery } from '../reference/load-reference-page.tsx';
import { SessionsPage } from '../sessions/sessions-page.tsx';
import { CrashedContent, CrashPage, NotFoundPage } from '../ui/error-pages.tsx';
import { LoadingPage } from '../ui/loading.tsx';
import type { UploadQueue } from '../uploads/upload-queue.ts';
import { Root } from './root.tsx';
import { Shell } from './shell.tsx';

interface RouterContext {
  readonly queryClient: QueryClient;
  readonly uploads: UploadQueue;
}

const root = createRootRouteWithContext<RouterContext>()({
  component: Root,
  errorComponent: CrashPage,
  notFoundComponent: NotFoundPage,
});

interface LoginSearch {
  readonly error?: string;
  /** The page of the dashboard to return to. */
  readonly return?: string;
}

/** A text of the address as it is; undefined when it is blank. */
const text = (value: unknown) => (typeof value === 'string' && value.trim() !== '' ? value : undefined);

const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  component: LoginPage,
  validateSearch: (search: Record<string, unknown>): LoginSearch => {
    const [error, back] = [text(search.error), text(search.return)];
    return { ...(error && { error }), ...(back && isReturnTo(back) && { return: back }) };
  },
});

/** The parent route of all pages that need a session. */
const session = createRoute({
  getParentRoute: () => root,
  id: 'session',
  component: Shell,
  pendingComponent: LoadingPage,
  beforeLoad: async ({ context: { queryClient }, location }) => {
    try {
      await queryClient.ensureQueryData(profileQuery);
    } catch (error) {
      if (failureOf(error) !== 'unauthorized') throw error;
      throw redirect({ to: '/login', search: { return: location.href }, replace: true });
    }
    const back = takeReturnTo();
    if (back !== undefined && back !== location.href) throw redirect({ href: back, replace: true });
  },
});

/** The largest page number that the API accepts. */
const PAGE_MAX = 2 ** 31 - 1;

const files = createRoute({
  getParentRoute: () => session,
  path: '/',
  component: FilesPage,
  errorComponent: CrashedContent,
  validateSearch: (search: Record<string, unknown>): FilesSearch => {
    const page = Number(search.page);
    const wanted = text(search.search);
    // For an invalid page number, `undefined` replaces the value in the address.
    return { page: page > 1 && page <= PAGE_MAX && Number.isInteger(page) ? page : undefined, search: wanted };
  },
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, deps: { page = 1, search = '' } }) => {
    void queryClient.prefetchQuery(filesQuery({ page, search }));
  },
});

const apiKeys = createRoute({
  getParentRoute: () => session,
  path: '/api-keys',
  component: ApiKeysPage,
  errorComponent: CrashedContent,
  loader: ({ context: { queryClient } }) => {
    void queryClient.prefetchQuery(apiKeysQuery);
  },
});

const sessions = createRoute({
  getParentRoute: () => session,
  path: '/sessions',
  component: SessionsPage,
  errorComponent: CrashedContent,
  loader: ({ context: { queryClient } }) => {
    void queryClient.prefetchQuery(sessionsQuery);
  },
});

const reference = createRoute({
  getParentRoute: () => session,
  path: '/docs',
  component: LoadReferencePage,
  errorComponent: CrashedContent,
  loader: ({ context: { queryClient } }) => {
    void queryClient.prefetchQuery(referencePageQuery);
  },
});

export const routeTree = root.addChildren([login, session.addChildren([files, apiKeys, sessions, reference])]);
