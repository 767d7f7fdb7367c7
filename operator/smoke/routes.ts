import { ROUTES } from '../../functions/routes.ts';
import { SECURITY_TEXT_PATH } from '../../infra/settings/security-text.ts';
import type { Route } from '../../shared/route.ts';
import { type Check, NotTried } from './check.ts';
import { textContent } from './content.ts';
import { exchange } from './http.ts';
import { expectCommonHeaders, expectEqual, expectError, expectHeader, expectStatus } from './service.ts';

/** Enough that transactions on the row of the account meet. A new AWS account may run no more than ten functions at the same time. */
const AT_ONCE = 8;
const UNKNOWN_ID = '01900000-0000-7000-8000-000000000000';

/** The routes that need this credential, with paths below the base URL. */
function guarded(access: Route['access']): { method: string; path: string }[] {
  return Object.values<Route>(ROUTES)
    .filter((route) => route.access === access)
    .map(({ method, path }) => ({ method, path: path.replace('/api/v1', '').replace('{id}', UNKNOWN_ID) }));
}

/** Checks of every route, and of unknown routes. */
export const ROUTE_CHECKS: readonly Check[] = [
  {
    name: 'health: database and storage are ok',
    async run({ service }) {
      const answer = expectStatus(await exchange(`${service.rootUrl}/health`), 200);
      expectEqual('the body', answer.text, '{"status":"ok","db":"ok","storage":"ok"}');
      return undefined;
    },
  },
  {
    name: 'login: the start redirects to the identity provider',
    async run({ service }) {
      const answer = expectStatus(await exchange(`${service.baseUrl}/auth/google`), 302);
      expectHeader(answer, 'location', /^https?:.*[?&]client_id=/);
      expectHeader(answer, 'set-cookie', /HttpOnly/i);
      return new URL(answer.headers.location ?? '').host;
    },
  },
  {
    name: 'login: a callback without a started login redirects to the login page',
    async run({ service }) {
      const answer = expectStatus(await exchange(`${service.baseUrl}/auth/google/callback?state=x&code=x`), 302);
      expectHeader(answer, 'location', /\/dashboard\/login\?error=/);
      return undefined;
    },
  },
  {
    name: 'security.txt: it names a contact, and has not expired',
    async run({ service }) {
      const answer = await exchange(service.rootUrl + SECURITY_TEXT_PATH);
      if (answer.status === 404) throw new NotTried('the file of the stage has no securityContact');
      expectHeader(expectStatus(answer, 200), 'content-type', /^text\/plain; charset=utf-8$/);
      const [, expires = ''] = /^Expires: (.+)$/m.exec(answer.text) ?? [];
      if (!(Date.parse(expires) > Date.now())) throw new Error(`it expires at "${expires}": deploy again`);
      return expires;
    },
  },
  {
    name: 'files: upload, list, search, read, delete',
    async run({ service }) {
      const name = `smoke-${Date.now()}.txt`;
      const file = await service.upload(name, textContent('hello'), 'length', 'text/plain');
      const found = JSON.parse(expectStatus(await service.ask(`/files?search=${name}`), 200).text);
      expectEqual('the number of matches', found.total, 1);
      expectEqual('the match', found.items[0].id, file.id);
      const read = JSON.parse(expectStatus(await service.ask(`/files/${file.id}`), 200).text);
      expectEqual('the record', JSON.stringify(read), JSON.stringify(file));
      expectStatus(await service.remove(file.id), 200);
      expectError(await service.ask(`/files/${file.id}`), 404, 'not_found');
      return undefined;
    },
  },
  {
    name: 'usage: an upload and a ticket are counted, and given back',
    async run({ service }) {
      const used = async () => JSON.parse(expectStatus(await service.ask('/usage'), 200).text).storage_used_bytes;
      const before = await used();
      const ticket = await service.askForTicket('smoke.bin', 3);
      const file = await service.upload('smoke.txt', textContent('hello'));
      expectEqual('the storage used', await used(), before + 8);
      expectStatus(await service.cancel(ticket.id), 200);
      expectStatus(await service.remove(file.id), 200);
      expectEqual('the storage used', await used(), before);
      return undefined;
    },
  },
  {
    name: `usage: ${AT_ONCE} uploads and deletions at the same time are all counted`,
    async run({ service }) {
      const used = async () => JSON.parse(expectStatus(await service.ask('/usage'), 200).text).storage_used_bytes;
      const before = await used();
      const each = Array.from({ length: AT_ONCE }, (_, index) => `smoke-${index}.txt`);
      const files = await Promise.all(each.map((name) => service.upload(name, textContent('hello'))));
      expectEqual('the storage used', await used(), before + 5 * AT_ONCE);
      for (const answer of await Promise.all(files.map(({ id }) => service.remove(id)))) expectStatus(answer, 200);
      expectEqual('the storage used', await used(), before);
      return undefined;
    },
  },
  {
    name: 'answers: they have a request id, no-store, nosniff and HSTS, each once',
    async run({ service }) {
      const answers = [await service.ask('/files?limit=1'), await exchange(`${service.rootUrl}/nothing`)];
      for (const answer of answers) expectCommonHeaders(answer);
      return undefined;
    },
  },
  {
    name: 'routes of sessions: a request with an API key is 401',
    async run({ service }) {
      const routes = guarded('session');
      for (const { method, path } of routes) expectError(await service.ask(path, { method }), 401, 'unauthorized');
      return `${routes.length} routes`;
    },
  },
  {
    name: 'routes of keys: a request without a key is 401, and an unknown id is 404',
    async run({ service }) {
      const routes = guarded('key-or-session');
      for (const { method, path } of routes) {
        expectError(await exchange(service.baseUrl + path, { method }), 401, 'unauthorized');
        if (path.includes(UNKNOWN_ID)) expectError(await service.ask(path, { method }), 404, 'not_found');
      }
      return `${routes.length} routes`;
    },
  },
  {
    name: 'unknown routes: 404, with and without a key; other methods: 405 with Allow',
    async run({ service }) {
      expectError(await exchange(`${service.rootUrl}/nothing`), 404, 'not_found');
      expectError(await exchange(`${service.baseUrl}/nothing`), 404, 'not_found');
      expectError(await service.ask('/nothing'), 404, 'not_found');
      expectError(await service.ask('/files/a/b/c', { method: 'DELETE' }), 404, 'not_found');
      const answer = await service.ask('/files', { method: 'PATCH' });
      expectError(answer, 405, 'method_not_allowed');
      expectHeader(answer, 'allow', /^GET, HEAD, POST$/);
      expectError(await service.ask('/uploads'), 405, 'method_not_allowed');
      return undefined;
    },
  },
  {
    name: 'gateway: a request that bypasses CloudFront is 403',
    async run({ service, gatewayUrl }) {
      if (gatewayUrl === undefined) throw new NotTried('--gateway-url was not given');
      const headers = { ...service.authorization, 'x-api-key': 'svc-smoke-is-not-the-key' };
      for (const path of ['health', 'api/v1/files', 'nothing']) {
        const url = `${gatewayUrl.replace(/\/$/, '')}/${path}`;
        expectError(await exchange(url), 403, 'forbidden');
        expectError(await exchange(url, { headers }), 403, 'forbidden');
      }
      return undefined;
    },
  },
];
