import { execFile, spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { inherited } from '../support/inherited.ts';
import { borrowTestService } from '../support/service.ts';

const EXAMPLES = join(import.meta.dirname, '../../examples');
const run = promisify(execFile);

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

const contentOf = async (link: string) => (await fetch(link.trim())).text();

test.each(await readdir(join(EXAMPLES, 'node')))(
  'the example node/%s uploads a file, and prints its link',
  async (example) => {
    await writeFile(join(folder, 'photo.jpg'), `by ${example}`);
    const link = await execute(process.execPath, [join(EXAMPLES, 'node', example)]);
    expect(await contentOf(link)).toBe(`by ${example}`);
  },
);

test('the example shell/upload.sh uploads files with any name, and prints their links', async () => {
  const names = ['a.txt', 'two words; and, more.txt', "it's.txt", 'a","b\\.txt', 'naïve 日本.txt'];
  for (const name of names) await writeFile(join(folder, name), `content of ${name}`);
  const links = await execute('sh', [join(EXAMPLES, 'shell/upload.sh'), ...names]);
  for (const [index, link] of links.trim().split('\n').entries())
    expect(await contentOf(link)).toBe(`content of ${names[index]}`);
  const failed = execute('sh', [join(EXAMPLES, 'shell/upload.sh'), 'a.txt'], { FILE_HOSTING_KEY: 'svc_test_wrong' });
  await expect(failed).rejects.toThrow('401');
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
    const before = (await account.byKey.request('GET', '/files')).body.total;
    await expect(shot(await pathWith({ flameshot: 'exit 0' }), { WAYLAND_DISPLAY: '' })).rejects.toThrow();
    expect((await account.byKey.request('GET', '/files')).body.total).toBe(before);
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

  test('uploads what was built, and comments its link on the pull request', async () => {
    const outputs = join(folder, 'outputs');
    const PATH = await pathWith({ gh: `printf '%s\\n' "$@" > "${join(folder, 'gh')}"` });
    const contexts: Record<string, () => Promise<string>> = {
      'vars.FILE_HOSTING_URL': async () => service.urls.root_url,
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
      // GitHub runs scripts with these options.
      await execute('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', String(script)], env);
    }
    const [pr, comment, url, flag, body = ''] = (await readFile(join(folder, 'gh'), 'utf8')).split('\n');
    expect([pr, comment, url, flag]).toEqual(['pr', 'comment', 'https://github.com/a/b/pull/1', '--body']);
    const stored = await fetch(body.slice(body.indexOf('http')));
    const built = await readFile(join(folder, 'build.tar.gz'));
    expect(Buffer.from(await stored.arrayBuffer()).equals(built)).toBe(true);
  });

  test('asks for no more permissions than it needs, and pins what it uses', () => {
    expect(workflow).toContain('permissions:\n  contents: read\n  pull-requests: write\n');
    expect([...workflow.matchAll(/uses: (\S+)/g)].map(([, name]) => name)).toEqual(['actions/checkout@v4']);
  });
});

describe('the example browser/server.mjs', () => {
  /** Starts the server of the examples with the folder of the test as its page. @returns its address. */
  async function start(): Promise<string> {
    const variables = {
      FILE_HOSTING_URL: service.urls.root_url,
      FILE_HOSTING_KEY: account.key,
      PAGE: folder,
      PORT: '0',
    };
    const server = spawn(process.execPath, [join(EXAMPLES, 'browser/server.mjs')], {
      env: { ...inherited(), ...variables },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    onTestFinished(() => void server.kill());
    const lines = createInterface({ input: server.stdout });
    return new Promise((resolve) => lines.once('line', resolve));
  }

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
    const upload = (site: string) => {
      const body = new FormData();
      body.append('file', new Blob(['forged']), 'forged.txt');
      return fetch(`${address}/files`, { method: 'POST', headers: { 'sec-fetch-site': site }, body });
    };
    expect((await upload('cross-site')).status).toBe(403);
    expect((await upload('same-origin')).status).toBe(201);
  });
});
