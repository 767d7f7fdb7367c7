import { createHash } from 'node:crypto';
import type { Context } from 'aws-lambda';
import { expect, vi } from 'vitest';
import { handler as unknownRoute } from '../../functions/unknown-route.ts';
import type { Account, AccountStore } from '../../shared/accounts/account.ts';
import { cleanFileName } from '../../shared/files/file-name.ts';
import type { SeqRange } from '../../shared/files/listing-counters.ts';
import {
  fileOfIncomingKey,
  incomingKey,
  objectKeyOfLink,
  ownerTag,
  parseOwner,
} from '../../shared/files/object-key.ts';
import { foldName, positionsWith, sealOf } from '../../shared/files/sealed-names.ts';
import { type SearchingStores, searchFiles } from '../../shared/files/search-files.ts';
import { type ApiEvent, bodyStream, headerValues } from '../../shared/http/request.ts';
import { ok } from '../../shared/http/response.ts';
import { finishLogin } from '../../shared/login/finish-login.ts';
import { deviceOf } from '../../shared/sessions/device.ts';
import type { SessionStore } from '../../shared/sessions/session.ts';
import { authenticate, type CredentialStores } from '../../shared/stack/authenticate.ts';
import { isCrossSiteWrite, isOwnName, isOwnStart } from '../../shared/stack/cross-site.ts';
import { isNavigation, loginPage } from '../../shared/stack/login-page.ts';
import { auditRequest, routeStack } from '../../shared/stack/route-stack.ts';
import { viewerSubject } from '../../shared/stack/viewer.ts';
import type { Target } from './fuzz.ts';
import { eventOf } from './parsers.ts';

// The metrics of an answer have the stage.
process.env.STAGE = 'local';

const OWN = 'https://app.example.org';
const ADDRESS = '198.51.100.7';
const ID = '01900000-0000-7000-8000-000000000000';
const CONTEXT = { getRemainingTimeInMillis: () => 20_000 } as Context;

/** Every key and every token is valid, and what is read for it is counted. */
let reads = 0;
const STORES: CredentialStores = {
  keys: {
    find: async () => {
      reads++;
      return { id: ID, accountId: ID, name: 'a', keyPrefix: 'svc_test_abc', createdAt: 0, lastUsedAt: Date.now() };
    },
    noteUse: async () => {},
  },
  sessions: {
    find: async (tokenHash) => {
      reads++;
      const times = { createdAt: Date.now(), refreshedAt: Date.now(), expiresAt: Number.MAX_SAFE_INTEGER };
      return { tokenHash, accountId: ID, device: '', ...times };
    },
    refresh: async () => {},
  },
  appUrl: async () => OWN,
};

const SETTING: Parameters<typeof finishLogin>[0] = {
  provider: {
    clientId: 'our-client',
    issuer: 'https://accounts.google.com',
    authorizationEndpoint: 'https://accounts.google.com/auth',
    tokenEndpoint: 'https://accounts.google.com/token',
    jwksUri: 'https://accounts.google.com/keys',
  },
  clientSecret: 'our-secret',
  appUrl: OWN,
  allowed: { domains: [], emails: ['everyone'] },
  accounts: {} as AccountStore,
  sessions: STORES.sessions as SessionStore,
};
const NOW = 1_700_000_000_000;
const FILE = { accountId: ID, mimeType: 'text/plain', sizeBytes: 1, objectKey: 'uploads/a', createdAt: 0 };

/** A route with a credential, that records what its client did. */
const guardedRoute = routeStack(
  { name: 'getFile', rateClass: 'requests' },
  [loginPage(), authenticate(STORES, 'key-or-session')],
  async ({ event, param }) => {
    auditRequest(event, 'logout', { account_id: event.caller?.accountId ?? '' });
    bodyStream(event);
    return ok({ id: param('id') });
  },
);

/** The other parts of a request: its line and headers, and the texts in them that mean something. */
export const REQUESTS: Readonly<Record<string, Target>> = {
  /** Method and path in the first line, then headers. Each answer is one that the contract knows, and each log line is one line. */
  request: {
    words: [
      ...[
        'GET ',
        'POST ',
        '/api/v1/files/',
        ID,
        '/api/v1/uploads/',
        '/complete',
        '%2f',
        '%00',
        '%C3%9F',
        '%30',
        '\n',
        ': ',
      ],
      ...[
        'authorization: Bearer ',
        'Authorization: ',
        `svc_test_${'a'.repeat(49)}`,
        'cookie: __Host-session=',
        'A'.repeat(43),
      ],
      ...[
        'origin: ',
        OWN,
        'null',
        'sec-fetch-site: ',
        'same-origin',
        'none',
        'x-viewer-host: ',
        'app.example.org:8443',
      ],
      ...['user-agent: ', 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0', '"', '\x9b', '\x85', 'Safari/', 'Version/'],
      ...['sec-fetch-mode: navigate', 'accept: ', 'text/html', 'application/json', ';q=', '0.5', '*/*', ',', 'q=NaN'],
      ...[
        'content-encoding: ',
        'gzip',
        'identity',
        'x-viewer-address: 203.0.113.9',
        'x-forwarded-for: 203.0.113.9',
        '__proto__: x',
      ],
    ],
    seeds: [
      `GET /api/v1/files/${ID}\nauthorization: Bearer svc_test_${'a'.repeat(49)}\nuser-agent: curl/8.5.0`,
      `DELETE /api/v1/files/x\ncookie: __Host-session=${'A'.repeat(43)}\norigin: ${OWN}\nsec-fetch-site: same-origin\ncontent-encoding: gzip`,
      'GET /api/v1/auth/google\nsec-fetch-mode: navigate\naccept: text/html;q=0.9, */*;q=0.1\nx-viewer-host: APP.example.org',
      'PUT /api/v1/files\nx-viewer-address: 203.0.113.9\nuser-agent: Mozilla/5.0 (iPad) Version/17.0 Mobile/15E148 Safari/604.1',
    ],
    stepsPerByte: 20,
    async check(input) {
      const event = requestEvent(input);
      const values = (name: string) => headerValues(event, name);
      const [origin, secFetchSite] = [values('origin'), values('sec-fetch-site')];

      for (const [route, statuses] of [
        [unknownRoute, [404, 405]],
        [guardedRoute, [200, 302, 401, 415]],
      ] as const) {
        reads = 0;
        const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
        const { statusCode, headers, body } = await route(event, CONTEXT);
        const lines = written.mock.calls.map(([line]) => String(line));
        written.mockRestore();
        expect(statuses).toContain(statusCode);
        if (statusCode >= 400) expect(JSON.parse(body)).toEqual({ error: expect.stringMatching(/^[a-z_]+$/) });
        for (const value of Object.values(headers ?? {})) expect(String(value)).toMatch(/^[ -~]*$/);
        expect(reads).toBeLessThanOrEqual(1);
        for (const line of lines) {
          expect(line.slice(0, -1)).not.toMatch(/\p{Cc}/u);
          const { resource_id = ID, user_agent = '', client_address = ADDRESS } = JSON.parse(line);
          expect(resource_id).toMatch(/^[0-9a-f-]{36}$/);
          expect(user_agent).toMatch(/^[^"]{0,256}$/);
          expect(user_agent).not.toMatch(/[\w-]{16}/);
          expect([ADDRESS, values('x-viewer-address').join(', ')]).toContain(client_address);
        }
        if (statusCode === 200) expect(JSON.parse(body)).toEqual({ id: expect.not.stringMatching(/[A-Z]/) });
      }

      const isForeign = isCrossSiteWrite('POST', { origin, secFetchSite }, OWN);
      const proofs = [...origin.map((value) => value === OWN), ...secFetchSite.map((value) => value === 'same-origin')];
      const isProof = origin.length <= 1 && secFetchSite.length <= 1 && proofs.length > 0 && !proofs.includes(false);
      expect(isForeign).toBe(!isProof);
      if (isOwnStart(secFetchSite)) expect(['', 'none', 'same-origin']).toContain(secFetchSite.join());
      if (isNavigation(event)) expect(['', 'navigate']).toContain(values('sec-fetch-mode').join());
      const [host] = values('x-viewer-host');
      if (isOwnName(host, OWN)) expect(host ?? 'app.example.org').toMatch(/app|%/i);
      // Without the secret of our edge, no header changes for whom a login is counted.
      if (values('x-origin-secret').length === 0) expect(await viewerSubject(event)).toBe(ADDRESS);
      for (const text of [input, ...values('user-agent')]) expect(deviceOf(text)).toMatch(/^[A-Z][A-Za-z ]{3,40}$/);
    },
  },

  /** The query with which a browser comes back from the provider, and after a line break the value of the cookie of its attempt. */
  'login-callback': {
    words: [
      ...['state=', 'code=', 'iss=', 'error=', 'access_denied', '&', '=', '%', '%00', '%C3%A9', '\xc3\xa9', '\n', '.'],
      ...[
        'https%3A%2F%2Faccounts.google.com',
        'A'.repeat(43),
        'B'.repeat(43),
        '%C3%A9'.repeat(43),
        '1700000000',
        '99999999999',
      ],
    ],
    seeds: [
      `state=${'A'.repeat(43)}&error=access_denied\n${'A'.repeat(43)}.${'B'.repeat(43)}.${'C'.repeat(43)}.1700000000`,
      `state=${'A'.repeat(43)}&iss=https%3A%2F%2Faccounts.google.com\n${'A'.repeat(43)}.${'B'.repeat(43)}.${'C'.repeat(43)}.1700000000`,
      `state=${'%C3%A9'.repeat(43)}&error=access_denied\n${'A'.repeat(43)}.${'B'.repeat(43)}.${'C'.repeat(43)}.1700000000`,
      `state=${'B'.repeat(43)}&state=x\nx.y.z`,
      'error=access_denied',
    ],
    stepsPerByte: 20,
    async check(input) {
      const [query = '', value = ''] = input.split('\n');
      const given = new URLSearchParams(query);
      // The provider is asked for a code alone, over the network.
      given.delete('code');
      const parameters = Object.fromEntries([...given.keys()].map((name) => [name, given.getAll(name)]));
      const hash = createHash('sha256')
        .update(given.get('state') ?? '')
        .digest('hex');
      const cookies = [{ name: `__Host-login-${hash.slice(0, 16)}`, value }];
      const { location, refusal, begun } = await finishLogin(
        SETTING,
        { parameters, cookies, userAgent: '' },
        () => NOW,
      );
      expect(location).toMatch(
        /^https:\/\/app\.example\.org\/dashboard\/login\?error=(login_failed|expired|access_denied)$/,
      );
      expect(begun).toBeUndefined();
      // No browser can raise the alarm of failed logins.
      expect(refusal?.isOurFailure, String(refusal?.cause)).toBe(false);
    },
  },

  /** The names of files, and what is searched for in the last line. */
  search: {
    words: [
      ...[
        '\n',
        '/',
        ' ',
        '.',
        'A',
        '\xc3\x9f',
        '\xe1\xba\x9e',
        '\xc4\xb0',
        '\xc4\xb1',
        '\xcc\x87',
        '\xcc\x81',
        '\xcf\x82',
        '\xce\xa3',
      ],
      ...[
        '\xef\xac\x81',
        '\xe2\x80\xaf',
        '\xc3\xa4',
        'a\xcc\x88',
        '\xf0\x9f\x98\x80',
        '\xed\xa0\x80',
        '%',
        '\xcd\x85',
        '\xe1\xbe\xb3',
      ],
    ],
    seeds: [
      'photo.jpg\nRe\xcc\x81sume\xcc\x81.pdf\nSTRASSE.txt\nstra\xc3\x9fe',
      `${'\xcc\x81'.repeat(200)}\n${'\xcc\x81'.repeat(700)}`,
      'a\n/',
    ],
    stepsPerByte: 400,
    async check(input) {
      const lines = Buffer.from(input, 'latin1').toString().split('\n');
      const names = lines.slice(0, 63).map((line) => cleanFileName(line, 'text/plain'));
      const files = names.map((name, seq) => ({ ...FILE, id: `${seq}`, name, seq })).reverse();
      const read = async (_account: string, { low, high }: SeqRange) => ({
        files: files.filter(({ seq }) => seq >= low && seq <= high),
      });
      const stores = { listing: { files: read } } as unknown as SearchingStores;
      const account = { id: ID, nextSeq: names.length, removed: new Map() } as unknown as Account;
      const find = (search: string) => searchFiles(stores, account, { search, offset: 0, limit: 100 });
      const found = await find(lines.at(-1) ?? '');
      expect(found.files).toHaveLength(found.total);
      const seal = sealOf(files);
      // However a name is spelled, it is found.
      for (const [seq, name] of [...new Set(names)].slice(0, 4).entries()) {
        for (const spelled of [name, name.normalize('NFD'), name.normalize('NFD').toUpperCase(), name.toLowerCase()]) {
          expect(
            (await find(spelled)).files.map((file) => file.name),
            `${seq} ${spelled}`,
          ).toContain(name);
        }
        expect(positionsWith(seal, foldName(name)).map((position) => names[position])).toContain(name);
      }
    },
  },

  /** The key of an object in an event of the bucket, the metadata of an object, or a link in a report. */
  'object-key': {
    words: [
      'incoming/',
      'uploads/',
      ID,
      '/',
      '//',
      '..',
      '%2F',
      '\n',
      'https://cdn.example.com',
      '@',
      ':443',
      '?',
      '#',
      '\\',
      '\xe4',
      'A',
    ],
    seeds: [
      `incoming/${ID}/${ID}`,
      `${ID}/${ID}`,
      `https://cdn.example.com/uploads/${'A'.repeat(22)}/a.txt`,
      'https://a@cdn.example.com:443/uploads/x?y',
    ],
    stepsPerByte: 20,
    check(input) {
      const arrived = fileOfIncomingKey(input);
      if (arrived) expect(incomingKey(arrived)).toBe(input);
      const owner = parseOwner(input);
      if (owner) expect(ownerTag(owner)).toBe(input);
      const key = objectKeyOfLink(input, ['https://cdn.example.com']);
      if (key === undefined) return;
      expect(key).toMatch(/^uploads\/[0-9A-Za-z]+$/);
      expect(input.toLowerCase().replace(/\s/g, '')).toContain('cdn.example.com');
    },
  },
};

/** The event that the gateway makes of a request: it has the last segment of the path as `id`. */
function requestEvent(input: string): ApiEvent {
  const [line = '', ...lines] = input.split('\n');
  const [httpMethod = '', path = ''] = line.split(' ');
  const values = new Map<string, string[]>();
  for (const header of lines) {
    const [, name, value] = /^([\w-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/.exec(header) ?? [];
    if (name !== undefined && value !== undefined) values.set(name, [...(values.get(name) ?? []), value.trim()]);
  }
  const id = path.split('/').at(-1) ?? '';
  return eventOf({ httpMethod, path, multiValueHeaders: Object.fromEntries(values), pathParameters: { id } });
}
