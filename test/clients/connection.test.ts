import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { FileHosting, type FileHostingError, type Wait } from '../../clients/typescript/src/index.ts';
import { dispatcherFor } from '../../clients/typescript/src/proxy.ts';
import { inherited } from '../support/inherited.ts';
import { borrowTestService } from '../support/service.ts';
import { COMMAND, commandVariables } from '../support/terminal.ts';

const service = await borrowTestService();
const account = await service.newAccount();
const folder = await mkdtemp(join(tmpdir(), 'file-hosting-connection-'));
const servers: Server[] = [];

/** A certificate of `files.test` and `localhost` that no authority has signed, and its key. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBqjCCAU+gAwIBAgIUVA20X0u2DMdFIKcjfsu9TsA/rn0wCgYIKoZIzj0EAwIw
FTETMBEGA1UEAwwKZmlsZXMudGVzdDAgFw0yNjExMjYwNDI1NTlaGA8yMTI2MTEw
MjA0MjU1OVowFTETMBEGA1UEAwwKZmlsZXMudGVzdDBZMBMGByqGSM49AgEGCCqG
SM49AwEHA0IABIqRe58qSiiXW4PitFvU0fcgD3Mq9+IFVJH2WgQqZvYc3ewxxmNj
1SAJNQutPQGNdSSwwDoQOhJVQzJ7GA9CNfujezB5MB0GA1UdDgQWBBQ3tXtpnaNj
2uV3Ni0vxsRKhzI27zAfBgNVHSMEGDAWgBQ3tXtpnaNj2uV3Ni0vxsRKhzI27zAP
BgNVHRMBAf8EBTADAQH/MCYGA1UdEQQfMB2CCmZpbGVzLnRlc3SCCWxvY2FsaG9z
dIcEfwAAATAKBggqhkjOPQQDAgNJADBGAiEAvgcwQT+Gr4zVoodBk7PA/9uH9i5S
WtAW3cWkrM1DqIwCIQD363byaqO81Mk4Z7/9eYZKgfOYbT9DIFh4lPMsuIonAg==
-----END CERTIFICATE-----`;
const CERTIFICATE_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgWNeBfwf1yh5k1EM8
UC9BHBEl7AkjTL09PNSYwOdlr3+hRANCAASKkXufKkool1uD4rRb1NH3IA9zKvfi
BVSR9loEKmb2HN3sMcZjY9UgCTULrT0BjXUksMA6EDoSVUMyexgPQjX7
-----END PRIVATE KEY-----`;

/** The requests that the proxy got: method, target, and credentials for the proxy. */
const proxied: string[] = [];
const ports = { tls: 0, proxy: 0, tlsProxy: 0 };

beforeAll(async () => {
  await writeFile(join(folder, 'authority.pem'), CERTIFICATE);
  const listen = async (server: Server) => {
    servers.push(server);
    await new Promise<void>((up) => server.listen(0, '127.0.0.1', up));
    return (server.address() as AddressInfo).port;
  };
  const { port } = new URL(service.urls.root_url);
  /** What listens at a port, behind TLS. */
  const behindTls = (plain: number) =>
    listen(
      createTlsServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY }, (socket) => {
        const upstream = connect(plain, 'localhost');
        socket.on('error', () => upstream.destroy());
        socket.pipe(upstream).on('error', () => socket.destroy());
        upstream.pipe(socket);
      }),
    );
  ports.tls = await behindTls(Number(port));
  const proxy = createServer((incoming, response) => {
    const { method, url = '', headers } = incoming;
    proxied.push([method, new URL(url).origin, headers['proxy-authorization']].join(' '));
    const { 'proxy-authorization': _, ...own } = headers;
    const outgoing = request(url, { method, headers: own }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(outgoing);
  });
  // `files.test` is known to the proxy alone.
  proxy.on('connect', ({ method, url, headers }, socket) => {
    proxied.push([method, url, headers['proxy-authorization']].join(' '));
    if (url !== 'files.test:443') return socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    const upstream = connect(ports.tls, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(upstream).pipe(socket);
    });
    socket.on('error', () => upstream.destroy());
  });
  ports.proxy = await listen(proxy);
  ports.tlsProxy = await behindTls(ports.proxy);
});
afterEach(() => {
  vi.unstubAllEnvs();
  proxied.length = 0;
});
afterAll(async () => {
  for (const server of servers) server.close();
  await rm(folder, { recursive: true });
  await service.close();
});

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function command(args: readonly string[], variables: Record<string, string>): Promise<Outcome> {
  const env = {
    ...inherited(),
    XDG_CONFIG_HOME: folder,
    ...commandVariables(account, service.urls.root_url),
    ...variables,
  };
  return new Promise((resolve) =>
    execFile(process.execPath, [COMMAND, ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    ),
  );
}

describe('an error that no retry can mend ends a call at once, and says its cause', () => {
  const CASES: readonly (readonly [string, () => string, Record<string, () => string>, RegExp])[] = [
    ['an unknown certificate', () => `https://localhost:${ports.tls}`, {}, /self-signed certificate/],
    ['no TLS', () => `https://localhost:${ports.proxy}`, {}, /wrong version number|packet length/],
    ['an unknown host', () => 'https://a..b', {}, /ENOTFOUND a\.\.b/],
    ['a port that no program may use', () => 'http://localhost:6000', {}, /bad port/],
    ['a malformed address', () => 'https://exa mple.com', {}, /not the address of a service/],
    ['an address without a host', () => 'https://', {}, /not the address of a service/],
    ['credentials in the address', () => 'https://me:secret@localhost', {}, /user name or password/],
    [
      'a proxy that refuses',
      () => 'https://localhost',
      { https_proxy: () => `127.0.0.1:${ports.proxy}` },
      /the proxy 127\.0\.0\.1:\d+ answered 403/,
    ],
    [
      'a proxy of another kind',
      () => 'https://localhost',
      { ALL_PROXY: () => 'socks5://localhost' },
      /must begin with/,
    ],
  ];
  test.for(CASES)('%s', async ([, url, variables, message]) => {
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value());
    const waits: Wait[] = [];
    const call = async () => new FileHosting({ url: url(), key: 'any' }).list({ onWait: (wait) => waits.push(wait) });
    const error = await call().then(
      () => undefined,
      (thrown: FileHostingError) => thrown,
    );
    expect(error).toMatchObject({
      name: 'FileHostingError',
      message: expect.stringMatching(message),
      isTemporary: false,
    });
    expect(error?.message).not.toContain('secret');
    expect(waits).toEqual([]);
  });

  test('the command says what to do about a certificate, and shows no password of an address', async () => {
    const refused = await command(['me'], { FILE_HOSTING_URL: `https://localhost:${ports.tls}` });
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/self-signed certificate.*\n.*NODE_EXTRA_CA_CERTS/),
    });
    for (const args of [['me'], ['login', '--url', 'https://me:secret@localhost']]) {
      const { code, stderr } = await command(args, { FILE_HOSTING_URL: 'https://me:secret@localhost' });
      expect([code, stderr]).toEqual([2, expect.stringContaining('user name or password')]);
      expect(stderr).not.toContain('secret');
    }
  });
});

test('a connection that fails for a moment is tried again, also when its host is not found', async () => {
  let isOffline = false;
  const offline = Object.assign(new TypeError('fetch failed'), {
    cause: Object.assign(new Error(), { code: 'ENOTFOUND' }),
  });
  const flaky: typeof fetch = async (...args) => {
    if (isOffline) {
      isOffline = false;
      throw offline;
    }
    return fetch(...args);
  };
  const hosting = new FileHosting({ url: service.urls.root_url, key: account.key, fetch: flaky });
  await hosting.list();
  isOffline = true;
  expect(await hosting.list()).toMatchObject({ total: 0 });
});

describe('proxies', () => {
  test.for([
    ['the proxy', () => ({ HTTPS_PROXY: `http://me:p%40ss@127.0.0.1:${ports.proxy}` })],
    ['a proxy behind TLS', () => ({ HTTPS_PROXY: `https://me:p%40ss@127.0.0.1:${ports.tlsProxy}` })],
    [
      'the proxy in lower case, which comes first',
      () => ({ https_proxy: `http://me:p%40ss@127.0.0.1:${ports.proxy}`, HTTPS_PROXY: 'http://127.0.0.1:1' }),
    ],
  ] as const)('a request for https: goes through a tunnel of %s', async ([, proxies]) => {
    const variables = {
      FILE_HOSTING_URL: 'https://files.test',
      ...proxies(),
      NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem'),
    };
    expect(await command(['me'], variables)).toMatchObject({ code: 0, stderr: '' });
    expect(proxied).toEqual([`CONNECT files.test:443 Basic ${btoa('me:p@ss')}`]);
  });

  test('a request for http: is handed to the proxy, and so are a direct upload and a download', async () => {
    const path = join(folder, 'large.bin');
    await writeFile(path, Buffer.alloc(5 * 1024 * 1024));
    const proxy = `me:pass@127.0.0.1:${ports.proxy}`;
    expect(await command(['upload', path], { http_proxy: proxy })).toMatchObject({ code: 0 });
    const by = `Basic ${btoa('me:pass')}`;
    expect(proxied.map((one) => one.replace(/http:\S+/, ''))).toEqual([`POST  ${by}`, `PUT  ${by}`, `POST  ${by}`]);
    proxied.length = 0;
    const saved = join(folder, 'saved.bin');
    expect(await command(['get', 'large.bin', '-o', saved], { http_proxy: proxy })).toMatchObject({ code: 0 });
    expect((await readFile(saved)).length).toBe(5 * 1024 * 1024);
    const { cdn_url } = service.urls;
    expect(proxied).toContain(`GET ${new URL(cdn_url).origin} ${by}`);
  });

  const RULES: readonly (readonly [address: string, variables: Record<string, string>, isProxied: boolean])[] = [
    ['https://files.test', { HTTPS_PROXY: 'p' }, true],
    ['https://files.test', { https_proxy: 'http://p:3128/' }, true],
    ['https://files.test', { all_proxy: 'p' }, true],
    ['https://files.test', { http_proxy: 'p' }, false],
    ['http://files.test', { HTTP_PROXY: 'p' }, false],
    ['http://files.test', { HTTPS_PROXY: 'p' }, false],
    ['http://localhost', { http_proxy: 'p' }, true],
    ['https://files.test', { HTTPS_PROXY: 'p', NO_PROXY: '*' }, false],
    ['https://files.test', { HTTPS_PROXY: 'p', NO_PROXY: 'a, FILES.test' }, false],
    ['https://a.files.test', { HTTPS_PROXY: 'p', NO_PROXY: 'files.test' }, false],
    ['https://files.test', { HTTPS_PROXY: 'p', NO_PROXY: '.files.test' }, false],
    ['https://otherfiles.test', { HTTPS_PROXY: 'p', NO_PROXY: 'files.test' }, true],
    ['https://files.test', { HTTPS_PROXY: 'p', NO_PROXY: 'files.test', no_proxy: 'other' }, true],
    ['https://10.1.2.3', { HTTPS_PROXY: 'p', NO_PROXY: '10.0.0.0/8' }, false],
    ['https://11.1.2.3', { HTTPS_PROXY: 'p', NO_PROXY: '10.0.0.0/8,nonsense/99,10.0.0.0/x' }, true],
    ['https://[fd00::1]', { HTTPS_PROXY: 'p', NO_PROXY: '[fd00::1]' }, false],
    ['https://[fd00::1]', { HTTPS_PROXY: 'p', NO_PROXY: 'fd00::/8' }, false],
    ['https://files.test', { HTTPS_PROXY: 'p', NO_PROXY: '' }, true],
    ['https://files.test', { HTTPS_PROXY: '' }, false],
  ];
  test.for(RULES)('%s with %j: %s', async ([address, variables, isProxied]) => {
    for (const name of ['http_proxy', 'https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY', 'no_proxy', 'NO_PROXY'])
      vi.stubEnv(name, variables[name] ?? '');
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
    expect((await dispatcherFor(address)) !== undefined).toBe(isProxied);
  });
});
