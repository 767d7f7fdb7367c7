/**
 * The table of routes. The stack makes a gateway method, a function and a role for each row. The README's table of routes is generated from
 * these rows, and many tests check every row. (The local AWS knows only the synthesized templates.)
 */

/** `key-or-session`: an API key or a session cookie. `session`: only a cookie, so that a leaked key cannot make keys. */
export type Access = 'public' | 'session' | 'key-or-session';

/** The class in which requests are counted: per account, or per client address for the two classes of the login. */
export type RateClass = 'uploads' | 'lists' | 'requests' | 'login-starts' | 'login-callbacks';

export interface Route {
  /** A GET route answers HEAD as well ({@link methodsOf}). */
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** In API Gateway's notation: a parameter is `{id}`. */
  readonly path: string;
  readonly access: Access;
  /** Absent when requests are not counted. */
  readonly rateClass?: RateClass;
  /** The module whose `handler` answers, relative to the project's root. */
  readonly entry: string;
  readonly purpose: string;
}

export const ROUTES = {
  health: {
    method: 'GET',
    path: '/health',
    access: 'public',
    entry: 'functions/health.ts',
    purpose: 'Health of the service, its database and its storage',
  },
  startLogin: {
    method: 'GET',
    path: '/api/v1/auth/google',
    access: 'public',
    rateClass: 'login-starts',
    entry: 'functions/start-login.ts',
    purpose: 'Start the Google login in a browser',
  },
  finishLogin: {
    method: 'GET',
    path: '/api/v1/auth/google/callback',
    access: 'public',
    rateClass: 'login-callbacks',
    entry: 'functions/finish-login.ts',
    purpose: 'Finish the Google login; Google redirects the browser to it',
  },
  getMe: {
    method: 'GET',
    path: '/api/v1/auth/me',
    access: 'session',
    rateClass: 'requests',
    entry: 'functions/get-me.ts',
    purpose: 'Profile and storage of the logged-in user',
  },
  logout: {
    method: 'POST',
    path: '/api/v1/auth/logout',
    access: 'session',
    rateClass: 'requests',
    entry: 'functions/logout.ts',
    purpose: 'End the session',
  },
  endSessions: {
    method: 'DELETE',
    path: '/api/v1/auth/sessions',
    access: 'session',
    rateClass: 'requests',
    entry: 'functions/end-sessions.ts',
    purpose: 'End every session of the account, including the one that asks',
  },
  listFiles: {
    method: 'GET',
    path: '/api/v1/files',
    access: 'key-or-session',
    rateClass: 'lists',
    entry: 'functions/list-files.ts',
    purpose: 'List files, newest first',
  },
  uploadFile: {
    method: 'POST',
    path: '/api/v1/files',
    access: 'key-or-session',
    rateClass: 'uploads',
    entry: 'functions/upload-file.ts',
    purpose: 'Upload a file (multipart), or ask for a direct-upload ticket (JSON)',
  },
  getFile: {
    method: 'GET',
    path: '/api/v1/files/{id}',
    access: 'key-or-session',
    rateClass: 'requests',
    entry: 'functions/get-file.ts',
    purpose: 'Details of one file',
  },
  deleteFile: {
    method: 'DELETE',
    path: '/api/v1/files/{id}',
    access: 'key-or-session',
    rateClass: 'requests',
    entry: 'functions/delete-file.ts',
    purpose: 'Delete a file, or cancel a direct upload',
  },
  completeUpload: {
    method: 'POST',
    path: '/api/v1/files/{id}/complete',
    access: 'key-or-session',
    rateClass: 'requests',
    entry: 'functions/complete-upload.ts',
    purpose: 'Finish a direct upload after its bytes are stored',
  },
  listApiKeys: {
    method: 'GET',
    path: '/api/v1/api-keys',
    access: 'session',
    rateClass: 'requests',
    entry: 'functions/list-api-keys.ts',
    purpose: 'List API keys',
  },
  createApiKey: {
    method: 'POST',
    path: '/api/v1/api-keys',
    access: 'session',
    rateClass: 'requests',
    entry: 'functions/create-api-key.ts',
    purpose: 'Create an API key; the key is shown once',
  },
  revokeApiKey: {
    method: 'DELETE',
    path: '/api/v1/api-keys/{id}',
    access: 'session',
    rateClass: 'requests',
    entry: 'functions/revoke-api-key.ts',
    purpose: 'Revoke an API key',
  },
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof ROUTES;

/**
 * The methods that a route answers: a GET route answers HEAD as well (RFC 9110, section 9.1). The same function gives both the
 * same answer; the gateway leaves out the body.
 */
export const methodsOf = ({ method }: Route): readonly string[] => (method === 'GET' ? ['GET', 'HEAD'] : [method]);
