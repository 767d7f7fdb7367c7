import { execFile } from 'node:child_process';
import { readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build, transform } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkTypes, newProject } from '../support/project.ts';
import { borrowTestService, type TestService } from '../support/service.ts';
import { COMMAND } from '../support/terminal.ts';
import { IS_THOROUGH } from '../support/thorough.ts';

const MIB = 1024 * 1024;
const PACKAGE = join(import.meta.dirname, '../../clients/typescript');
const run = promisify(execFile);

/** The maximum size of the client in a bundle for browsers, compressed with gzip. */
const BUNDLE_BYTES_MAX = 8_500;

/** How much the memory of a process may grow while it sends a stream of 100 MiB. */
const STREAM_MEMORY_MAX = 64 * MIB;

let service: TestService;
let project: string;
beforeAll(async () => {
  service = await borrowTestService();
  project = await newProject();
});
afterAll(async () => {
  await rm(project, { recursive: true });
  await service.close();
});

/** The path of the Node that runs the tests, and the path of the machine's own Node if that is another one. */
async function nodes(): Promise<string[]> {
  const PATH = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));
  const { stdout } = await run('node', ['-p', 'process.execPath'], { env: { PATH: PATH.join(delimiter) } }).catch(
    () => ({
      stdout: process.execPath,
    }),
  );
  return [...new Set([process.execPath, stdout.trim()])];
}

/** Runs a program with a new account of the service. @returns what it has printed. */
async function runProgram(
  node: string,
  code: string,
  { extension = 'mjs', flags = [] }: { extension?: string; flags?: string[] } = {},
): Promise<string> {
  const { key } = await service.newAccount();
  const file = join(project, `program-${Math.random()}.${extension}`);
  await writeFile(file, code);
  const env = { PATH: process.env.PATH, FILE_HOSTING_URL: service.urls.root_url, FILE_HOSTING_KEY: key };
  const { stdout, stderr } = await run(node, [...flags, file], { cwd: project, env });
  return stdout + stderr;
}

describe('the package', () => {
  test('is small in a bundle for browsers, which needs nothing of Node', async () => {
    const { outputFiles } = await build({
      entryPoints: [join(PACKAGE, 'src/index.ts')],
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'browser',
      write: false,
    });
    const bytes = gzipSync(outputFiles[0]?.contents ?? '').length;
    expect(bytes).toBeGreaterThan(1_000);
    expect(bytes).toBeLessThan(BUNDLE_BYTES_MAX);
  });

  test('package-lock.json has the client and the command, without which npm ci fails, and no entry names a registry', async () => {
    const lock = JSON.parse(await readFile(join(PACKAGE, '../../package-lock.json'), 'utf8'));
    for (const path of ['clients/typescript', 'clients/cli']) {
      const { name, ...described } = JSON.parse(await readFile(join(PACKAGE, '../..', path, 'package.json'), 'utf8'));
      const { bin: _, ...locked } = lock.packages[path];
      expect({ name, ...described }).toMatchObject(locked);
      expect(locked.dependencies).toEqual(described.dependencies);
      expect(lock.packages[`node_modules/${name}`]).toEqual({ resolved: path, link: true });
    }
    const resolved = Object.values<{ resolved?: string }>(lock.packages).map((one) => one.resolved ?? '');
    expect(resolved.filter((address) => address.includes('://'))).toEqual([]);
  });

  test('has no dependencies, and its types work in a strict project without the types of browsers', async () => {
    const description = JSON.parse(await readFile(join(PACKAGE, 'package.json'), 'utf8'));
    expect(description.dependencies ?? {}).toEqual({});
    await writeFile(
      join(project, 'typed.ts'),
      `import { FileHosting, FileHostingError, type FileRecord } from 'file-hosting-client';
       export const upload = async (): Promise<FileRecord> => new FileHosting().upload('a', { name: 'b' });
       // @ts-expect-error
       new FileHosting({ address: 'x' });
       export const codes = (error: FileHostingError): 'stalled' | undefined => error.code === 'stalled' ? error.code : undefined;`,
    );
    await checkTypes(project, 'typed.ts');
  });

  test('is required by CommonJS programs in each Node, and their types are checked', async () => {
    const program = `import { FileHosting, uploadTo } from 'file-hosting-client';
      const hosting = new FileHosting({ fetch });
      void (async () => {
        const file = await hosting.upload(new Blob(['abc']));
        const ticket = await hosting.createTicket({ name: 'a.txt', size: 3 });
        await uploadTo(ticket, new Blob(['abc']), { fetch });
        await hosting.complete(ticket.id);
        let text = '';
        for await (const bytes of hosting.download(file)) text += Buffer.from(bytes);
        console.log(text, (await hosting.list()).total);
      })();`;
    await symlink(join(PACKAGE, '../../node_modules/undici'), join(project, 'node_modules/undici'));
    await writeFile(join(project, 'typed.cts'), `import { fetch } from 'undici';\n${program}`);
    for (const resolution of [
      ['--module', 'node16'],
      ['--module', 'preserve', '--moduleResolution', 'bundler'],
    ]) {
      await checkTypes(project, ...resolution, '--skipLibCheck', 'false', 'typed.cts');
    }
    const { code } = await transform(program, { format: 'cjs' });
    for (const node of await nodes()) expect((await runProgram(node, code, { extension: 'cjs' })).trim()).toBe('abc 2');
    // This undici needs the Node of the project.
    const withUndici = `const { fetch } = require('undici');\n${code}`;
    expect((await runProgram(process.execPath, withUndici, { extension: 'cjs' })).trim()).toBe('abc 2');
  });

  test('uploads, lists and deletes in each Node, with a clock that is off by an hour', async () => {
    for (const node of await nodes()) {
      for (const hours of [-1, 1]) {
        const printed = await runProgram(
          node,
          `const now = Date.now;
           Date.now = () => now() + ${hours} * 3_600_000;
           import { writeFile } from 'node:fs/promises';
           const { FileHosting } = await import('file-hosting-client');
           const hosting = new FileHosting();
           await writeFile('large.bin', Buffer.alloc(5 * 1024 * 1024));
           const files = [await hosting.upload('large.bin'), await hosting.upload(new Blob(['x']))];
           const { total } = await hosting.list();
           for await (const { id } of hosting.listAll()) await hosting.delete(id);
           console.log(files.map((file) => file.size_bytes), total, (await hosting.list()).total);`,
        );
        expect(printed.trim()).toBe('[ 5242880, 1 ] 2 0');
      }
    }
  });

  test('the command runs in Node 22.12 and newer, and an older one says that it needs it', async () => {
    const real = await Promise.all((await nodes()).map((node) => run(node, ['-p', 'process.versions.node'])));
    const versions = ['18.20.8', '20.0.0', '22.11.0', '22.12.0', ...real.map(({ stdout }) => stdout.trim())];
    const told = join(project, 'version.cjs');
    await writeFile(
      told,
      'Object.defineProperty(process, "versions", { value: { ...process.versions, node: process.env.AS_NODE } });',
    );
    for (const version of versions) {
      const env = { ...process.env, AS_NODE: version };
      const outcome = await run(process.execPath, ['-r', told, COMMAND, '--version'], { env }).catch((error) => error);
      const [major = 0, minor = 0] = version.split('.').map(Number);
      const refusal = `error: file-hosting needs Node 22.12 or newer, and this is Node ${version}.\n`;
      const isOld = major < 22 || (major === 22 && minor < 12);
      expect([outcome.stdout, outcome.stderr]).toEqual(isOld ? ['', refusal] : ['1.0.0\n', '']);
    }
    for (const node of await nodes()) {
      const { stdout, stderr } = await run(node, [COMMAND, '--version']).catch((error) => error);
      expect(stdout || stderr).toMatch(/^(1\.0\.0|error: file-hosting needs Node 22\.12 or newer.*)\n$/);
    }
  });

  test('sends a stream of 100 MiB of unknown length with little memory', async () => {
    const all = await nodes();
    for (const node of IS_THOROUGH ? all : all.slice(0, 1)) {
      const printed = await runProgram(
        node,
        `import { FileHosting } from 'file-hosting-client';
         const hosting = new FileHosting();
         async function* bytes(pieces) {
           for (let piece = 0; piece < pieces; piece++) yield new Uint8Array(65_536).fill(1);
         }
         await hosting.upload(bytes(160));
         const before = process.resourceUsage().maxRSS;
         const { size_bytes } = await hosting.upload(bytes(1_600));
         console.log(size_bytes, (process.resourceUsage().maxRSS - before) * 1_024);`,
        // V8 frees buffers in a thread, which on a busy machine may begin late: then memory would tell of the machine.
        { flags: ['--no-concurrent-array-buffer-sweeping'] },
      );
      const [size, memory = Number.NaN] = printed.split(' ').map(Number);
      expect(size).toBe(100 * MIB);
      expect(memory).toBeLessThan(STREAM_MEMORY_MAX);
    }
  });
});
