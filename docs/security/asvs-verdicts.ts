import type { NamedTest } from '../named-tests.ts';

/** What the service does about one requirement of OWASP's ASVS 5.0.0. */
export interface Verdict {
  /** The requirement in a few words of ours. */
  readonly asks: string;
  readonly verdict: 'met' | 'not applicable' | 'unmet';
  /** Met by what, or the reason. */
  readonly because: string;
  readonly tests: readonly NamedTest[];
  /** Where it is written or done, for what no test shows. */
  readonly files: readonly string[];
}

function met(asks: string, because: string, ...evidence: readonly (NamedTest | string)[]): Verdict {
  return {
    asks,
    verdict: 'met',
    because,
    tests: evidence.filter((one) => typeof one !== 'string'),
    files: evidence.filter((one) => typeof one === 'string'),
  };
}

function not(verdict: 'not applicable' | 'unmet') {
  return (asks: string, because: string): Verdict => ({ asks, verdict, because, tests: [], files: [] });
}
const none = not('not applicable');
const unmet = not('unmet');

const JSON_ERRORS: NamedTest = [
  'test/contract/errors.test.ts',
  'an error of a function or of the edge has only its code',
];
const BAD_FORMS: NamedTest = [
  'test/shared/upload-form/random-forms.test.ts',
  'any bytes are either read as a form, or refused with invalid_request, and then what was stored is discarded',
];
const DISPOSITION: NamedTest = [
  'test/shared/files/content-disposition.test.ts',
  'is well-formed for any name, and holds the whole name',
];
const INERT: NamedTest = ['test/contract/download.test.ts', '%s with the type "%s" is served as %s and cannot execute'];
const OTHERS_IDS: NamedTest = [
  'test/service/incidents/access.test.ts',
  'ASVS 8.2.2: ids of another account get exactly the same answer as unknown ids',
];
const WRITES: NamedTest = ['test/contract/login.test.ts', 'a write with a cookie and %s is %i'];
const COOKIE: NamedTest = [
  'test/shared/http/cookies.test.ts',
  'a cookie is set for this host only, over TLS, hidden from scripts, and not sent with requests of other sites',
];
const COOKIE_NAME: NamedTest = ['test/shared/http/cookies.test.ts', 'at %s a login sets the cookie %s'];
const HEADERS: NamedTest = [
  'test/service/every-layer.test.ts',
  'the answer for %s has nosniff, a Cross-Origin-Resource-Policy, and at the app a Content-Security-Policy',
];
const LIMITER: NamedTest = [
  'test/contract/rate-limits.test.ts',
  'exactly as many of 100 simultaneous requests succeed as the limit allows',
];
const LOGIN_LIMIT: NamedTest = [
  'test/service/incidents/access.test.ts',
  'CVE-2026-126937 (Zipline): cannot be evaded by a header with another client address',
];
const CREDENTIALS: NamedTest = [
  'test/contract/errors.test.ts',
  'every guarded route is 401 without a credential, before the rest of the request is checked',
];
const SESSIONS_ONLY: NamedTest = [
  'test/contract/api-keys.test.ts',
  'a key cannot list, create or revoke keys, read the profile or log out',
];
const LENGTHS: NamedTest = [
  'test/service/incidents/forms.test.ts',
  'CVE-2025-59139 (hono): Content-Length and Transfer-Encoding together',
];
const SIZES: NamedTest = [
  'test/contract/upload.test.ts',
  'a file of %i bytes is %i, with and without a Content-Length',
];
const QUOTA: NamedTest = [
  'test/service/accounting.test.ts',
  'exactly as many simultaneous uploads through all three lanes succeed as fit',
];
const MEMBERS: NamedTest = ['test/service/incidents/access.test.ts', 'do not change a ticket'];
const PROTO: NamedTest = ['test/service/incidents/access.test.ts', 'do not supply the name through __proto__'];
const LOGS: NamedTest = ['test/service/secrets.test.ts', 'requests that succeed log no secret'];
const FORGED: NamedTest = [
  'test/service/secrets.test.ts',
  'uploads with names that try to forge a log line log no secret',
];
const AUDIT: NamedTest = [
  'test/service/log-queries.test.ts',
  'has each login, logout, key and session of an account, with client and time',
];
const TRAIL: NamedTest = [
  'test/infra/stacks/hardening.test.ts',
  'the audit trail is kept for 90 days, and in prod it outlives its stack and is protected from deletion',
];
const GRANTS: NamedTest = ['test/service/grants.test.ts', 'every granted action of every role is used'];
const WILDCARDS: NamedTest = [
  'test/infra/stacks/hardening.test.ts',
  'no grant has a wildcard except those listed with a reason, and none is on all resources',
];
const BUCKETS: NamedTest = ['test/infra/stacks/hardening.test.ts', 'every bucket is private, and requires TLS'];
const VARIABLES: NamedTest = [
  'test/infra/stacks/hardening.test.ts',
  'no variable of a function contains a secret or is unknown to the code',
];
const TOKENS: NamedTest = ['test/shared/login/identity.test.ts', 'an ID token is refused'];
const CALLBACK: NamedTest = [
  'test/shared/login/finish-login.test.ts',
  'a callback that is not the answer to this browser is refused before the provider is asked:',
];
const PKCE: NamedTest = [
  'test/shared/login/start-login.test.ts',
  'redirects the browser to the provider with state, PKCE S256 and nonce',
];
const ONCE: NamedTest = [
  'test/shared/login/start-login.test.ts',
  'never uses a state, nonce, challenge or cookie twice',
];
const BYPASS: NamedTest = [
  'test/contract/errors.test.ts',
  'a request that bypasses CloudFront is 403, and no function runs',
];
const ONLY_HTTPS: NamedTest = [
  'test/infra/stacks/hardening.test.ts',
  'a program learns that it sends its key in clear, a page is redirected to HTTPS, and there is no IPv6',
];
const CACHING: NamedTest = ['test/contract/errors.test.ts', 'every answer of the API has Cache-Control: no-store'];
const SIX_FIELDS: NamedTest = ['test/contract/upload.test.ts', 'every answer with a file has exactly its six fields'];
const LOGOUT: NamedTest = ['test/contract/login.test.ts', 'logging out ends the session on the server'];
const SUSPENSION: NamedTest = [
  'test/operator/admin/commands.test.ts',
  'suspend rejects the account from the next request on, and restore makes its keys valid again, but not its sessions',
];
const KEY_HASH: NamedTest = ['test/contract/api-keys.test.ts', 'the table of keys contains no key, only its hash'];
const UNCOUNTED: NamedTest = ['test/contract/rate-limits.test.ts', 'a request that cannot be counted is 503'];
const LIST_VALUES: NamedTest = ['test/contract/list.test.ts', 'a list with %s is %i'];
const TICKETS: NamedTest = ['test/contract/direct-upload.test.ts', 'a ticket request with %s is %i'];
const DOCUMENTED: NamedTest = ['test/docs/openapi.test.ts', 'has every method of every route, and nothing else'];

const NO_PASSWORDS = 'The service has no passwords: people log in at the identity provider.';
const NO_FACTORS = 'The identity provider keeps the factors of a person; the service has none of its own.';
const NO_SERVER = 'The service is a client of an authorization server, and is none itself.';
const NO_RESOURCE_SERVER = 'No route accepts an OAuth access token.';
const NO_INTERPRETER = (what: string) => `The service uses no ${what}.`;
const NO_SOCKETS = 'The service has no WebSockets.';
const NO_GRAPHQL = 'The service has no GraphQL.';
const NO_ENCRYPTION = 'The code encrypts nothing itself. AWS encrypts tables, files, secrets and connections.';
const OWN_DOMAINS =
  'With a domain of your own at both distributions it is at least TLS 1.2. Without one CloudFront allows no choice, and also takes older versions at its own names.';

/** By number: every requirement of the levels 1 and 2. */
export const VERDICTS: Readonly<Record<string, Verdict>> = {
  '1.1.1': met(
    'decode once, before use',
    'The edge makes one form of each path; names are decoded once, before they are checked.',
    ['test/infra/edge/app-viewer-request.test.ts', 'an unusual form of a path is made canonical or rejected:'],
    ['test/shared/files/file-name.test.ts', 'any name gives a usable name, which cleaning again does not change'],
  ),
  '1.1.2': met(
    'encode as the last step',
    'Headers of files are made when they are stored; JSON and React escape when they write.',
    DISPOSITION,
  ),
  '1.2.1': met(
    'encode for the context of the response',
    'Answers are JSON; the dashboard is React; names in headers are encoded.',
    DISPOSITION,
  ),
  '1.2.2': met(
    'encode parts of URLs, allow only safe protocols',
    'The name in a link is percent-encoded; a picture of a profile must be https.',
    ['test/contract/upload.test.ts', 'the URL of a file has a random token, which is not the id, and the encoded name'],
  ),
  '1.2.3': met(
    'no injection into JavaScript or JSON',
    'JSON is written by `JSON.stringify`; no script is built from data.',
    JSON_ERRORS,
  ),
  '1.2.4': met('no injection into database queries', 'Expressions of DynamoDB are constant; values are parameters.', [
    'test/contract/list.test.ts',
    'a search for %s finds exactly the names that contain it',
  ]),
  '1.2.5': met(
    'no injection into commands of the system',
    'The deployed functions start no process.',
    'infra/bundle/entries.ts',
  ),
  '1.2.6': none('no LDAP injection', NO_INTERPRETER('LDAP')),
  '1.2.7': none('no XPath injection', NO_INTERPRETER('XPath')),
  '1.2.8': none('LaTeX is restricted', NO_INTERPRETER('LaTeX')),
  '1.2.9': met(
    'escape text in regular expressions',
    'No expression is built from the text of a request; a search compares texts.',
    ['test/contract/list.test.ts', 'a search for %s finds exactly the names that contain it'],
  ),
  '1.3.1': none('sanitize HTML of editors', 'No text of a user is rendered as HTML.'),
  '1.3.2': met(
    'no eval',
    'No code is made at run time. The policy of the dashboard allows no `eval` either.',
    ['test/infra/bundle.test.ts', 'contains no dynamic import, which would load undici'],
    'infra/constructs/app-distribution.ts',
  ),
  '1.3.3': met(
    'sanitize before a dangerous context',
    'Names lose control characters, directions of text and too many characters before they reach headers.',
    ['test/shared/files/file-name.test.ts', 'any name gives a usable name, which cleaning again does not change'],
  ),
  '1.3.4': met(
    'scripts in uploaded SVG',
    'An SVG is served in a sandbox in which nothing executes; it is not changed.',
    INERT,
  ),
  '1.3.5': met(
    'scripts in other uploaded content',
    'Every upload is served from another site, under a policy that executes nothing.',
    INERT,
  ),
  '1.3.6': met(
    'no requests to addresses of a user',
    'No address in a request is fetched; the addresses of the provider are in a secret.',
    [
      'test/shared/login/provider.test.ts',
      'an incomplete or wrong parameter is refused with the name of the field, without its value:',
    ],
  ),
  '1.3.7': none('no template injection', NO_INTERPRETER('templates at run time')),
  '1.3.8': none('no JNDI injection', NO_INTERPRETER('JNDI')),
  '1.3.9': none('no memcache injection', NO_INTERPRETER('memcache')),
  '1.3.10': met('format strings', 'Log lines are JSON; no text of a request is a format.', FORGED),
  '1.3.11': none('no injection into mail', 'The service sends no mail with content of users.'),
  '1.4.1': met('memory-safe handling of strings', 'JavaScript; no native package is deployed.', [
    'test/infra/sbom.test.ts',
    'the bill of materials has the packages whose code is deployed, and no tools',
  ]),
  '1.4.2': met(
    'no overflow of integers',
    'Numbers are whole, bounded, and refused where they are not.',
    LIST_VALUES,
    TICKETS,
  ),
  '1.4.3': met('release memory and resources', 'What a broken upload has stored is discarded.', BAD_FORMS),
  '1.5.1': met(
    'restricted XML parsers',
    'Only answers of S3 are XML, which the SDK reads; no XML of a client is parsed.',
    'shared/aws/object-store.ts',
  ),
  '1.5.2': met('safe deserialization', 'Bodies are JSON or forms; only known fields are read.', MEMBERS, PROTO),
  '2.1.1': met(
    'rules for the validity of input are documented',
    'The OpenAPI document has the type and the bounds of every parameter and body.',
    DOCUMENTED,
  ),
  '2.1.2': met(
    'rules for combinations are documented',
    '[docs/api.md](../api.md#uploading) says what must agree: the sizes of ticket and bytes, a key and its file.',
    'docs/contract.md',
  ),
  '2.1.3': met(
    'limits are documented',
    '[docs/api.md](../api.md#limits-and-how-to-change-them) has all limits per account, the [guide](../operate.md#the-firewall) those of addresses.',
    'docs/api.md',
  ),
  '2.2.1': met('validate input positively', 'Every parameter has a pattern or a range.', LIST_VALUES, TICKETS),
  '2.2.2': met(
    'validate at a trusted layer',
    'The functions check everything; the dashboard uses only the public API.',
    CREDENTIALS,
  ),
  '2.2.3': met(
    'combinations are checked',
    'The bytes of a ticket must have its length, type and checksum; another file under the same key is refused.',
    [
      'test/contract/direct-upload.test.ts',
      'the URL of a ticket takes only the announced length, type and checksum, and only once',
    ],
    ['test/contract/retries.test.ts', 'an upload of another %s with the same key is 409'],
  ),
  '2.3.1': met(
    'steps in order',
    'A ticket becomes a file only after its bytes; a callback needs its login attempt.',
    CALLBACK,
    ['test/contract/direct-upload.test.ts', 'cancelling a ticket releases its reserved bytes, and a later PUT is 412'],
  ),
  '2.3.2': met(
    'business limits hold',
    'Storage, files, keys and bytes of a day are conditions of the transaction.',
    QUOTA,
    ['test/contract/account-limits.test.ts', 'exactly as many simultaneous uploads succeed as the limit has room for'],
  ),
  '2.3.3': met(
    'all or nothing',
    'One DynamoDB transaction makes a file, its books and its place.',
    ['test/service/faults.test.ts', 'a late call of %s, applied after its retry, changes nothing'],
    [
      'test/shared/files/random-use.test.ts',
      'the books balance and the limit holds whatever clients, events, sweepers and faults do at once',
    ],
  ),
  '2.3.4': met(
    'no double use of limited things',
    'Conditions of the transactions; exactly as many succeed as fit.',
    QUOTA,
  ),
  '2.4.1': met(
    'limits against automation',
    'Limits per account and minute, of logins per address, of bytes a day; throttles of routes; the firewall.',
    LIMITER,
    LOGIN_LIMIT,
  ),
  '3.2.1': met(
    'no rendering in a wrong context',
    'Files come from another site, inert, with `nosniff`; answers of the app have a policy that loads nothing.',
    INERT,
    HEADERS,
  ),
  '3.2.2': met(
    'text is rendered as text',
    'React writes texts; the policy of the dashboard refuses inline scripts.',
    'infra/constructs/app-distribution.ts',
  ),
  '3.3.1': met(
    '`Secure` cookies with a prefix',
    '`__Host-` over https. Only under `npm start`, without TLS, the cookie has its plain name.',
    COOKIE,
    COOKIE_NAME,
  ),
  '3.3.2': met('`SameSite` by purpose', 'All cookies are `Lax`, since a login returns from another site.', COOKIE),
  '3.3.3': met('`__Host-` cookies', 'All cookies over https.', COOKIE_NAME),
  '3.3.4': met('`HttpOnly`, and only in `Set-Cookie`', 'No answer has the token in its body.', [
    'test/contract/login.test.ts',
    'the session cookie is HttpOnly and SameSite=Lax, and only its hash is stored',
  ]),
  '3.4.1': met('HSTS of a year, with subdomains', 'Two years, at every layer.', [
    'test/service/every-layer.test.ts',
    'every layer answers with Strict-Transport-Security',
  ]),
  '3.4.2': met(
    'CORS by a list, `*` only for what is public',
    'The API has no CORS. Links have `*`, without credentials: a link is public.',
    [
      'test/contract/download.test.ts',
      'pages of every origin may read a link, its errors too, and the cache has one entry for all',
    ],
  ),
  '3.4.3': met(
    'a Content-Security-Policy on every response',
    "`default-src 'none'` and `base-uri 'none'` at the app. A policy of its type for each file; error pages of links are JSON with `nosniff` and have none.",
    HEADERS,
    INERT,
  ),
  '3.4.4': met('`nosniff` on every response', 'At both distributions.', HEADERS),
  '3.4.5': met(
    'a referrer policy',
    '`same-origin` at the dashboard; the address of a login callback only redirects.',
    'infra/constructs/app-distribution.ts',
    'infra/constructs/cdn-distribution.ts',
  ),
  '3.4.6': met(
    '`frame-ancestors` on every response',
    "`'none'` at the app. A link may be framed on purpose ([decision 0042](../decisions/0042-pages-of-every-origin-may-use-a-link.md)), and its document has an origin of its own.",
    HEADERS,
  ),
  '3.5.1': met(
    'no cross-site requests that change something',
    'A write with a cookie needs `Origin` or `Sec-Fetch-Site` of our own, and both if both are there.',
    WRITES,
  ),
  '3.5.2': none('no request without a preflight', 'The protection does not rely on preflights.'),
  '3.5.3': met(
    'writes are not GET',
    'Only the two steps of a login change something by GET; they need state, nonce and a cookie of the attempt.',
    ['test/shared/stack/cross-site.test.ts', 'a %s changes nothing and may come from anywhere'],
    CALLBACK,
  ),
  '3.5.4': met(
    'applications on different hostnames',
    'Uploads have another host than the dashboard; [the guide](../operate.md#custom-domains) asks for another registrable domain.',
    [
      'test/infra/settings/stage.test.ts',
      'an invalid setting is an error that names the file of the stage and the setting: > one domain for both distributions',
    ],
  ),
  '3.5.5': none(
    'messages between windows are checked',
    'The dashboard listens to no `postMessage` of other origins; its channel is one of its own origin.',
  ),
  '3.7.1': met('only supported client technologies', 'HTML, CSS and JavaScript.', 'dashboard/vite.config.ts'),
  '3.7.2': met('redirects only to listed hosts', 'To the provider of the secret, and to our own dashboard.', [
    'test/shared/login/finish-login.test.ts',
    'no parameter can change where the browser is redirected to',
  ]),
  '4.1.1': unmet(
    'a right `Content-Type` with charset',
    'The HTML, scripts and styles of the dashboard come without a charset, because the CDK takes types from extensions; the page names UTF-8 itself. All else has it: JSON, texts and links.',
  ),
  '4.1.2': met('only pages redirect to HTTPS', 'A request to `/api/` over HTTP is refused.', ONLY_HTTPS),
  '4.1.3': met(
    'headers of intermediaries cannot be set by clients',
    'The edge overwrites or removes them; the functions believe them only beside the secret of the edge.',
    LOGIN_LIMIT,
    BYPASS,
  ),
  '4.2.1': met('boundaries of messages', 'With `Transfer-Encoding` the length is ignored.', LENGTHS),
  '4.3.1': none('limits of GraphQL', NO_GRAPHQL),
  '4.3.2': none('no introspection', NO_GRAPHQL),
  '4.4.1': none('WebSockets over TLS', NO_SOCKETS),
  '4.4.2': none('origin of WebSockets', NO_SOCKETS),
  '4.4.3': none('tokens for WebSockets', NO_SOCKETS),
  '4.4.4': none('tokens for WebSockets come from a session', NO_SOCKETS),
  '5.1.1': met(
    'file types and sizes are documented',
    'Every type, up to `MAX_UPLOAD_SIZE_BYTES`; [docs/api.md](../api.md#links) says how files are served.',
    'docs/api.md',
  ),
  '5.2.1': met('only files of a size that can be processed', 'The size is checked by what arrives, and by S3.', SIZES, [
    'test/service/incidents/forms.test.ts',
    'CVE-2026-54288 (hono): a Content-Length of 10 and a larger body',
  ]),
  '5.2.2': unmet(
    'content agrees with the extension',
    'Any type is welcome, and content is not compared with the name. What a file cannot do is decided when it is served: another site, `nosniff`, a sandbox.',
  ),
  '5.2.3': none('limits for compressed files', 'The service unpacks nothing.'),
  '5.3.1': met('uploads do not execute on the server', 'Files are in S3, which executes nothing.', INERT),
  '5.3.2': met('paths from own data', 'The key of an object is random; the name of the user is only metadata.', [
    'test/contract/upload.test.ts',
    'the token alone identifies the file: another name, no name or a query string makes no difference',
  ]),
  '5.4.1': met('own file name in `Content-Disposition`', 'The name in a URL is ignored.', [
    'test/contract/download.test.ts',
    'Content-Disposition names the file in ASCII and in UTF-8',
  ]),
  '5.4.2': met('encoded file names', 'RFC 6266 and RFC 8187.', DISPOSITION),
  '5.4.3': unmet(
    'antivirus',
    'Nothing is scanned. A scanner would have to read each file once more; GuardDuty Malware Protection for S3 can be turned on for the bucket. Reports end with [take-down](../operate.md#taking-abuse-reports).',
  ),
  '6.1.1': met(
    'defences against guessing are documented',
    '[docs/api.md](../api.md#rate-limits): logins are limited by address, and nobody can lock out another person.',
    'docs/api.md',
  ),
  '6.1.2': none('words forbidden in passwords', NO_PASSWORDS),
  '6.1.3': met(
    'ways to authenticate are documented',
    'There are two, session and key ([security.md](../security.md#who-may-do-what)).',
    'docs/security.md',
  ),
  ...Object.fromEntries(
    [
      ['6.2.1', 'length of passwords'],
      ['6.2.2', 'change of passwords'],
      ['6.2.3', 'the current password for a change'],
      ['6.2.4', 'no common passwords'],
      ['6.2.5', 'no rules of composition'],
      ['6.2.6', 'masked fields'],
      ['6.2.7', 'paste and password managers'],
      ['6.2.8', 'exact comparison'],
      ['6.2.9', 'long passwords'],
      ['6.2.10', 'no forced changes'],
      ['6.2.11', 'no words of the context'],
      ['6.2.12', 'no breached passwords'],
    ].map(([number = '', asks = '']) => [number, none(asks, NO_PASSWORDS)]),
  ),
  '6.3.1': met(
    'defences against guessing',
    'A key has 256 random bits; logins are limited by address.',
    LOGIN_LIMIT,
    CREDENTIALS,
  ),
  '6.3.2': met(
    'no default accounts',
    'Accounts exist only after a login; nobody may log in until the operator says who.',
    [
      'test/infra/settings/stage.test.ts',
      'has empty lists in the files of the AWS stages, until an operator adds people',
    ],
  ),
  '6.3.3': unmet(
    'several factors',
    'The service does not ask the provider which factors were used. An operator can require them in the Google Workspace. A key is one factor.',
  ),
  '6.3.4': met(
    'no undocumented ways to authenticate',
    'The declaration of a route names its credential; everything else is refused.',
    CREDENTIALS,
    ['test/shared/stack/authenticate.test.ts', 'an Authorization header is refused, even beside a valid cookie:'],
  ),
  '6.4.1': none('initial passwords', NO_PASSWORDS),
  '6.4.2': none('no secret questions', NO_PASSWORDS),
  '6.4.3': none('reset of passwords', NO_PASSWORDS),
  '6.4.4': none('loss of a factor', NO_FACTORS),
  ...Object.fromEntries(
    [
      ['6.5.1', 'codes work once'],
      ['6.5.2', 'short codes are hashed with a salt'],
      ['6.5.3', 'random codes'],
      ['6.5.4', 'entropy of codes'],
      ['6.5.5', 'codes expire'],
      ['6.6.1', 'codes by phone'],
      ['6.6.2', 'codes are bound to their request'],
      ['6.6.3', 'codes are limited'],
    ].map(([number = '', asks = '']) => [number, none(asks, NO_FACTORS)]),
  ),
  '6.8.1': met('identity by provider and person', 'An account is the UUIDv5 of issuer and subject.', [
    'test/shared/login/provider.test.ts',
    'an account id is the UUIDv5 of issuer and subject, and never changes',
  ]),
  '6.8.2': met('signatures of assertions', 'RS256 by the keys of the provider; unsigned tokens are refused.', TOKENS),
  '6.8.3': none('SAML', 'The service has no SAML.'),
  '6.8.4': none('strength of the authentication', 'No function expects a special strength or recentness.'),
  '7.1.1': met(
    'timeouts are documented',
    '[security.md](../security.md#sessions): 7 days idle, 30 days in all, and why.',
    'docs/security.md',
  ),
  '7.1.2': met(
    'number of sessions is documented',
    'A hundred; one more ends the oldest ([decision 0016](../decisions/0016-a-list-of-sessions-for-each-account.md)).',
    ['test/shared/sessions/sessions.test.ts', 'an account has at most a hundred sessions: one more ends the oldest'],
  ),
  '7.1.3': met(
    'federated sessions are documented',
    '[security.md](../security.md#sessions): a session does not end with that of the provider.',
    'docs/security.md',
  ),
  '7.2.1': met('sessions are verified by the backend', 'Each request reads the row of the session.', [
    'test/shared/sessions/sessions.test.ts',
    'a request costs one read, and one write an hour',
  ]),
  '7.2.2': met('tokens are made for each session', 'A new token at each login.', [
    'test/contract/login.test.ts',
    'each login creates a separate session',
  ]),
  '7.2.3': met(
    'random tokens of 128 bits',
    '256 bits of the random source of the system.',
    ['test/contract/login.test.ts', 'the session cookie is HttpOnly and SameSite=Lax, and only its hash is stored'],
    'shared/ids.ts',
  ),
  '7.2.4': met('a new token at a login, and the old one ends', 'Also when another account logs in.', [
    'test/contract/login.test.ts',
    "a login ends the browser's previous session, of the same or another account, and also works after a logout",
  ]),
  '7.3.1': met('idle timeout', 'Seven days, on the server.', [
    'test/shared/sessions/sessions.test.ts',
    'a session ends',
  ]),
  '7.3.2': met('absolute timeout', 'Thirty days, on the server.', [
    'test/shared/sessions/sessions.test.ts',
    'the use of a session is also noted in its last days, when no request can prolong it',
  ]),
  '7.4.1': met('an ended session is refused', 'The row is deleted; reads are strong.', LOGOUT, [
    'test/shared/sessions/sessions.test.ts',
    'a late refresh does not bring an ended session back',
  ]),
  '7.4.2': met(
    'a disabled account loses its sessions',
    'A suspension ends sessions and refuses keys from the next request on.',
    SUSPENSION,
  ),
  '7.4.3': none('end other sessions after a change of a factor', NO_FACTORS),
  '7.4.4': met('visible logout', 'The account menu is on every page.', [
    'test/dashboard/session.test.ts',
    'starts with a login that returns to the requested page, and ends on the server with a logout',
  ]),
  '7.4.5': met('administrators can end sessions', '`npm run admin -- end-sessions`, for one account.', [
    'test/operator/admin/commands.test.ts',
    'end-sessions logs out every browser from the next request on, and keeps the keys',
  ]),
  '7.5.1': none(
    'authenticate again before sensitive changes',
    'The profile comes from the provider; the service lets nobody change it.',
  ),
  '7.5.2': unmet(
    'people see and end their sessions, after authenticating again',
    'The page "Sessions" of the dashboard shows and ends them. But it asks for no new login before it ends one: who has stolen a cookie could log the owner out anyway ([decision 0016](../decisions/0016-a-list-of-sessions-for-each-account.md)).',
  ),
  '7.6.1': met(
    'sessions and those of the provider as documented',
    '[security.md](../security.md#sessions).',
    'docs/security.md',
  ),
  '7.6.2': met(
    'a session needs an action of the person',
    'A login begins with a click; a callback without its attempt makes no session.',
    ['test/contract/login.test.ts', 'a callback without the cookie of its attempt creates no session'],
  ),
  '8.1.1': met(
    'rules of access are documented',
    '[docs/api.md](../api.md#routes) names the credential of each route; [security.md](../security.md#who-may-do-what) the rules for data.',
    'docs/api.md',
  ),
  '8.1.2': met(
    'rules for fields are documented',
    '[security.md](../security.md#who-may-do-what): all fields of own data can be read; only the name of a key and a file are chosen.',
    'docs/security.md',
  ),
  '8.2.1': met('functions only for those who may', 'Credential by route.', CREDENTIALS, SESSIONS_ONLY),
  '8.2.2': met('data only for those who may', 'Every read has the id of the account in its key.', OTHERS_IDS),
  '8.2.3': met('fields only for those who may', 'Unknown fields are ignored.', MEMBERS),
  '8.3.1': met(
    'rules at a trusted layer',
    'The functions decide; the gateway refuses what did not come through the edge.',
    CREDENTIALS,
    BYPASS,
  ),
  '8.4.1': met('no effect on other tenants', 'Ids of another account are like unknown ones.', OTHERS_IDS, [
    'test/contract/list.test.ts',
    "another account's files are not listed",
  ]),
  '9.1.1': met('signed tokens', 'The only such token is the ID token of the provider.', TOKENS),
  '9.1.2': met('a list of algorithms', 'RS256 alone.', TOKENS, 'shared/login/identity.ts'),
  '9.1.3': met(
    'keys from known sources',
    'The address of the keys is in the secret; headers of a token name no other.',
    [
      'test/shared/login/provider.test.ts',
      'a provider other than Google is described completely, and its issuer has only one spelling',
    ],
    'shared/login/identity.ts',
  ),
  '9.2.1': met('tokens within their time', '`exp` is required, and `iat` is not older than an attempt.', TOKENS),
  '9.2.2': met(
    'tokens of the right type',
    'Only the ID token of the code flow, with the nonce of the attempt, logs a person in.',
    TOKENS,
  ),
  '9.2.3': met('tokens for this audience', '`aud`, and `azp` if there are several.', TOKENS),
  '9.2.4': none('audience of issued tokens', 'The service issues no self-contained tokens.'),
  '10.1.1': met(
    'tokens only where needed',
    'Tokens of the provider stay in the function that finishes a login, and are not stored.',
    [
      'test/service/secrets.test.ts',
      'failures of the login provider, and an invalid value of its secret, leave no secret in the log',
    ],
    'shared/login/finish-login.ts',
  ),
  '10.1.2': met(
    'only answers to our own requests',
    'State, nonce and PKCE are random, of one attempt, and in a cookie of its browser.',
    CALLBACK,
    ONCE,
  ),
  '10.2.1': met('no forged logins', 'State and PKCE.', PKCE, CALLBACK),
  '10.2.2': none('no mix-up of servers', 'A stage has one provider.'),
  '10.3.1': none('audience of access tokens', NO_RESOURCE_SERVER),
  '10.3.2': none('claims of access tokens', NO_RESOURCE_SERVER),
  '10.3.3': none('person of an access token', NO_RESOURCE_SERVER),
  '10.3.4': none('strength of an access token', NO_RESOURCE_SERVER),
  ...Object.fromEntries(
    [
      ['10.4.1', 'exact redirect addresses'],
      ['10.4.2', 'codes work once'],
      ['10.4.3', 'codes are short-lived'],
      ['10.4.4', 'only needed grants'],
      ['10.4.5', 'replay of refresh tokens'],
      ['10.4.6', 'PKCE is required'],
      ['10.4.7', 'registration of clients'],
      ['10.4.8', 'refresh tokens end'],
      ['10.4.9', 'tokens can be revoked'],
      ['10.4.10', 'clients are authenticated'],
      ['10.4.11', 'only needed scopes'],
      ['10.6.1', 'response types of a provider'],
      ['10.6.2', 'forced logout at a provider'],
      ['10.7.1', 'consent to each request'],
      ['10.7.2', 'clear words of consent'],
      ['10.7.3', 'consents can be revoked'],
    ].map(([number = '', asks = '']) => [number, none(asks, NO_SERVER)]),
  ),
  '10.5.1': met('no replay of ID tokens', 'The nonce of the attempt.', TOKENS, ONCE),
  '10.5.2': met('person by `sub`', 'Not by the e-mail address.', [
    'test/shared/login/finish-login.test.ts',
    'finds the same account under a new e-mail address, and another one under another subject',
  ]),
  '10.5.3': none(
    'metadata of a false issuer',
    'The service reads no metadata: all addresses of the provider are configured.',
  ),
  '10.5.4': met('audience is the client', '`aud` is our client.', TOKENS),
  '10.5.5': none('back-channel logout', 'The service takes no logout tokens.'),
  '11.1.1': unmet(
    'a policy for keys by a standard',
    '[security.md](../security.md#what-is-secret) says how each secret is made, kept, changed and lost. It follows no standard such as NIST SP 800-57.',
  ),
  '11.1.2': met('a cryptographic inventory', '[security.md](../security.md#what-is-secret).', 'docs/security.md'),
  '11.2.1': met(
    'validated implementations',
    'OpenSSL of Node, jose, and the SDK of AWS; nothing of our own but a checksum that protects nothing.',
    ['test/shared/api-keys/key-format.test.ts', 'the stored hash is SHA-256 over the whole key'],
  ),
  '11.2.2': unmet(
    'algorithms can be exchanged',
    'Keys and sessions are found by their SHA-256, so another hash would need a second lookup while old keys live. Keys can be replaced at any time.',
  ),
  '11.2.3': unmet(
    '128 bits of security',
    'Ours have 256 bits. Google signs ID tokens with RSA of 2048 bits, which is 112, and we must accept it.',
  ),
  '11.3.1': none('no weak modes and padding', NO_ENCRYPTION),
  '11.3.2': none('approved ciphers', NO_ENCRYPTION),
  '11.3.3': none('authenticated encryption', NO_ENCRYPTION),
  '11.4.1': met(
    'approved hash functions',
    'SHA-256 for secrets. (The id of an account is a UUIDv5, by SHA-1; it is a name, and protects nothing.)',
    ['test/shared/api-keys/key-format.test.ts', 'the stored hash is SHA-256 over the whole key'],
  ),
  '11.4.2': none('slow hashes for passwords', NO_PASSWORDS),
  '11.4.3': met('collision resistance', 'SHA-256 for signatures and checksums of direct uploads.', [
    'test/contract/direct-upload.test.ts',
    'the URL of a ticket takes only the announced length, type and checksum, and only once',
  ]),
  '11.4.4': none('keys from passwords', NO_PASSWORDS),
  '11.5.1': met(
    'random values of 128 bits',
    'Keys and sessions have 256 bits, links 128; ids are UUIDs and open nothing.',
    ['test/shared/api-keys/key-format.test.ts', 'is never the same twice'],
    'shared/ids.ts',
  ),
  '11.6.1': met(
    'approved algorithms for keys and signatures',
    'RS256 of the provider; the service makes no key pairs.',
    TOKENS,
  ),
  '12.1.1': unmet('only TLS 1.2 and 1.3', OWN_DOMAINS),
  '12.1.2': unmet('only recommended ciphers', OWN_DOMAINS),
  '12.1.3': none('client certificates', 'The service takes none.'),
  '12.2.1': met('TLS for every client', 'A page is redirected, the API refuses, S3 refuses.', ONLY_HTTPS, BUCKETS),
  '12.2.2': met('public certificates', 'Of ACM, at CloudFront, the gateway and S3.', 'infra/constructs/viewer-side.ts'),
  '12.3.1': met(
    'encrypted connections everywhere',
    'The SDK uses HTTPS; buckets, the queue and the topics refuse anything else; the provider must have TLS.',
    BUCKETS,
    [
      'test/infra/stacks/event-functions.test.ts',
      'the queue of failed events is encrypted, requires TLS, and keeps events for 14 days',
    ],
    [
      'test/shared/login/provider.test.ts',
      'an endpoint without TLS may be on this machine, by its name or its address',
    ],
  ),
  '12.3.2': met(
    'clients check certificates',
    'Node and the SDK do, and nothing turns it off.',
    'shared/aws/dynamodb.ts',
  ),
  '12.3.3': met(
    'TLS between own services',
    'CloudFront reaches gateway and streaming function over HTTPS only.',
    'infra/constructs/app-distribution.ts',
  ),
  '12.3.4': met('trusted certificates between own services', 'All are of AWS.', 'infra/constructs/app-distribution.ts'),
  '13.1.1': met(
    'connections are documented',
    '[docs/architecture.md](../architecture.md#the-parts), and [whom the functions call](../security.md#whom-the-functions-call).',
    'docs/security.md',
  ),
  '13.2.1': met(
    'parts authenticate to each other',
    'Roles with short-lived credentials; origin access control. The edge proves itself to gateway and functions by a secret, which is exchanged in two slots.',
    ['test/shared/aws/secrets-and-parameters.test.ts', 'is recognised by the secret in either slot'],
    BYPASS,
  ),
  '13.2.2': met('least privilege', 'A role for each function, and each granted action is used.', GRANTS, WILDCARDS),
  '13.2.3': met('no default credentials', 'Secrets are generated or filled in by the operator.', [
    'test/shared/login/provider.test.ts',
    'an incomplete or wrong parameter is refused with the name of the field, without its value:',
  ]),
  '13.2.4': unmet(
    'a list of outside systems',
    'The code calls only AWS and the provider, but no network rule stops a function from calling others: they are in no VPC.',
  ),
  '13.2.5': unmet('a list for the server', 'As 13.2.4.'),
  '13.3.1': met(
    'secrets in a vault',
    'Secrets Manager and a SecureString; variables of functions have only names.',
    VARIABLES,
  ),
  '13.3.2': met(
    'access to secrets is least',
    'Each function reads only the secrets that it needs.',
    GRANTS,
    [
      'test/infra/stacks/hardening.test.ts',
      'only what the guide lists can read the origin secret, and what starts a login reads no secret of the login',
    ],
    [
      'test/docs/operate.test.ts',
      "the guide's role for CI may do what the deployment does with its credentials, and reads no secret",
    ],
  ),
  '13.4.1': met(
    'no `.git` is deployed',
    'Functions are bundles, pages a build of their own.',
    ['test/infra/edge/app-viewer-request.test.ts', 'a path of the dashboard'],
    'infra/bundle/bundle.ts',
  ),
  '13.4.2': met('no debug modes', 'There is none.', JSON_ERRORS),
  '13.4.3': met(
    'no listings',
    'The edge lets only paths of files through.',
    [
      'test/infra/edge/cdn-viewer-request.test.ts',
      'the function never throws, and never forwards a path outside uploads/',
    ],
    BUCKETS,
  ),
  '13.4.4': met('no TRACE', 'CloudFront refuses it.', [
    'test/service/every-layer.test.ts',
    "%s is CloudFront's own 403 at the app, and our 404 at the CDN",
  ]),
  '13.4.5': met(
    'documentation and monitoring only on purpose',
    'The OpenAPI document, `/llms.txt` and `/health` are public on purpose; `/health` says only whether it is up, and the commit.',
    ['test/contract/errors.test.ts', 'an unknown route is 404 with any method and credential'],
  ),
  '14.1.1': met('data is classified', '[security.md](../security.md#what-is-kept-of-a-person).', 'docs/security.md'),
  '14.1.2': met(
    'protection of each class is documented',
    '[security.md](../security.md#what-is-kept-of-a-person).',
    'docs/security.md',
  ),
  '14.2.1': unmet(
    'no secrets in URLs',
    'No key and no session is in a URL. But the URL of a direct upload is its permission (15 minutes, one PUT of announced bytes), as S3 has it, and the code of a login is in its callback, as OAuth has it.',
  ),
  '14.2.2': met('nothing sensitive in server caches', 'The API is not cached.', CACHING, [
    'test/contract/errors.test.ts',
    'an answer that the edge or the gateway makes itself has Cache-Control: no-store, too',
  ]),
  '14.2.3': met(
    'nothing to untrusted parties',
    'The dashboard loads only from itself and the links; it has no trackers.',
    'infra/constructs/app-distribution.ts',
  ),
  '14.2.4': met(
    'the protection is in place',
    'As [security.md](../security.md#what-is-kept-of-a-person) says.',
    KEY_HASH,
    LOGS,
    [
      'test/shared/administration/delete-account.test.ts',
      'nothing of a deleted account is left after the sweeper has run, and other accounts lose nothing',
    ],
  ),
  '14.3.1': met(
    'data is cleared after a logout',
    'The dashboard empties what it has loaded, also when a session ends by itself.',
    ['test/dashboard/session.test.ts', 'ends in all tabs and other browsers with a log out everywhere'],
    'dashboard/src/app/account-menu.tsx',
  ),
  '14.3.2': met('no caching in browsers', '`no-store` on every answer of the API.', CACHING),
  '14.3.3': met(
    'nothing sensitive in browser storage',
    'Only the colour scheme and the page to return to after a login.',
    'dashboard/src/login/return-to.ts',
  ),
  '15.1.1': met('deadlines for updates', '[SECURITY.md](../../SECURITY.md#updating-dependencies).', 'SECURITY.md'),
  '15.1.2': met(
    'a bill of materials',
    'CycloneDX, of what is deployed; packages come from npm at exact versions with checksums.',
    ['test/infra/sbom.test.ts', 'the bill of materials has the packages whose code is deployed, and no tools'],
  ),
  '15.1.3': met(
    'costly functions are documented',
    '[docs/api.md](../api.md#limits-and-how-to-change-them) has the worst search; [docs/operate.md](../operate.md#what-it-costs) the worst days.',
    [
      'test/docs/costs.test.ts',
      'the worst days are computed from the default limits and the firewall of the stage prod',
    ],
  ),
  '15.2.1': unmet(
    'no overdue components',
    'Deadlines are set, but no test asks for vulnerabilities, since its verdict would depend on the date: an operator runs `npm audit`.',
  ),
  '15.2.2': met(
    'defences for costly functions',
    'Searches, uploads and completions have limits, places and deadlines.',
    ['test/docs/costs.test.ts', 'the dearest searches of an account read no more than its partition gives'],
    [
      'test/contract/streaming.test.ts',
      'accounts that take all places by slow uploads do not prevent another from uploading',
    ],
  ),
  '15.2.3': met(
    'nothing superfluous is deployed',
    'Bundles have only what is imported; each variable and grant is used.',
    GRANTS,
    VARIABLES,
  ),
  '15.3.1': met('only needed fields', 'Answers have a declared shape.', SIX_FIELDS, [
    'test/contract/api-keys.test.ts',
    'the list shows the newest key first, and never the secret',
  ]),
  '15.3.2': unmet(
    'no redirects of outgoing calls',
    'The keys of the provider are fetched without redirects, but the exchange of the code follows them, as `fetch` does. A redirect could come only from the token endpoint that the operator has configured, over TLS.',
  ),
  '15.3.3': met('no mass assignment', 'Only named fields of a body are read.', MEMBERS, PROTO),
  '15.3.4': met('the real address of the client', 'The edge writes it, and a client cannot.', LOGIN_LIMIT),
  '15.3.5': met('types are checked', 'Bodies and parameters of a wrong type are refused.', TICKETS, [
    'test/contract/errors.test.ts',
    'null for an optional field of a JSON body is the same as its absence, and no value of a required one',
  ]),
  '15.3.6': met('no prototype pollution', 'Names of clients are never keys of objects that inherit.', PROTO, [
    'test/shared/upload-form/header-parameters.test.ts',
    'a header has %s',
  ]),
  '15.3.7': met(
    'repeated parameters',
    'A repeated parameter, header or cookie is refused where it could decide.',
    LIST_VALUES,
    ['test/service/incidents/access.test.ts', 'two session cookies are 401: %s'],
  ),
  '16.1.1': met(
    'an inventory of logs',
    '[docs/operate.md](../operate.md#the-logs-themselves), with the decisions [0029](../decisions/0029-what-the-logs-hold.md), [0035](../decisions/0035-an-audit-trail-in-a-log-of-its-own.md), [0036](../decisions/0036-what-the-edge-refuses-leaves-a-line.md) and [0027](../decisions/0027-a-log-of-downloads-without-readers.md).',
    'docs/operate.md',
  ),
  '16.2.1': met('who, what, when, where', 'Each line has request id, account, address, route and time.', [
    'test/service/request-log.test.ts',
    'has the account, the address, the key prefix, the number of bytes, and the id of the file',
  ]),
  '16.2.2': met('one time', 'All times are UTC, of clocks that AWS keeps.', AUDIT),
  '16.2.3': met('logs only where documented', 'Every function writes to a known group.', [
    'test/infra/stacks/hardening.test.ts',
    'every function writes to a log group that expires, and is deleted with its stack unless it is the audit trail',
  ]),
  '16.2.4': met('one format', 'JSON lines, which saved queries read.', [
    'test/service/log-queries.test.ts',
    '%s reads only fields that some line of its logs has',
  ]),
  '16.2.5': met('nothing sensitive in logs', 'Keys by prefix, sessions by the beginning of their hash.', LOGS, [
    'test/service/log-queries.test.ts',
    'no log but that of downloads has a secret, an e-mail address, a file name or the name of a key',
  ]),
  '16.3.1': met('authentication is logged', 'Logins, also refused ones, and refused keys.', AUDIT, [
    'test/service/request-log.test.ts',
    'has the prefix of a key that is no longer valid, and no other part of the key',
  ]),
  '16.3.2': met('failed authorization is logged', 'Each refusal is a line with its reason.', [
    'test/service/request-log.test.ts',
    'names what was wrong with %s',
  ]),
  '16.3.3': met(
    'attempts to bypass are logged',
    'Also by the gateway and by the edge.',
    ['test/service/log-queries.test.ts', 'sees in the logs which requests the gateway has refused'],
    ['test/service/log-queries.test.ts', 'finds a request that no function has seen, by the id of its answer'],
  ),
  '16.3.4': met(
    'unexpected errors are logged',
    'With cause and request id.',
    [
      'test/contract/login.test.ts',
      'a callback that finds the database down ends the attempt, and the log has the cause',
    ],
    ['test/service/alarms.test.ts', 'starts at its fault'],
  ),
  '16.4.1': met('no injection into logs', 'JSON, without control characters.', FORGED),
  '16.4.2': met('logs cannot be changed', 'Functions may only add lines.', TRAIL, GRANTS),
  '16.4.3': met('logs are elsewhere', 'CloudWatch Logs, which a function cannot read or delete.', GRANTS, TRAIL),
  '16.5.1': met('errors say nothing of the inside', 'An error has its code alone.', JSON_ERRORS, [
    'test/contract/errors.test.ts',
    'a refusal says in Error-Detail what is wrong, and a failure of ours says nothing',
  ]),
  '16.5.2': met('safe when others fail', 'Requests end in time; the sweeper finishes the rest.', UNCOUNTED, [
    'test/service/time-limits.test.ts',
    'a deletion is answered in time when S3 does not respond, and the sweeper removes the object',
  ]),
  '16.5.3': met('no failing open', 'A request that cannot be counted or authenticated is refused.', UNCOUNTED, [
    'test/shared/sessions/sessions.test.ts',
    'sessions that cannot be read are service_unavailable, not logged out',
  ]),
  ...Object.fromEntries(
    [
      ['17.1.1', 'addresses of a TURN server'],
      ['17.2.1', 'keys of DTLS'],
      ['17.2.2', 'ciphers of DTLS'],
      ['17.2.3', 'authentication of SRTP'],
      ['17.2.4', 'malformed SRTP'],
      ['17.3.1', 'floods of signals'],
      ['17.3.2', 'malformed signals'],
    ].map(([number = '', asks = '']) => [number, none(asks, 'The service has no WebRTC.')]),
  ),
};
