import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractDepcruiseConfig from 'dependency-cruiser/config-utl/extract-depcruise-config';
import { expect, onTestFinished, test } from 'vitest';

const PROJECT = join(import.meta.dirname, '..');
const CONFIGURATION = await extractDepcruiseConfig(join(PROJECT, '.dependency-cruiser.js'));

/** Each rule, with files that break this rule alone. `a > b` stands for: file a imports b, which is a file or a package. */
const BROKEN: readonly (readonly [rule: string, ...imports: string[]])[] = [
  ['no-circle-of-files', 'shared/files/a.ts > shared/files/b.ts', 'shared/files/b.ts > shared/files/a.ts'],
  ['no-circle-of-folders', 'infra/edge/a.ts > infra/stacks/b.ts', 'infra/stacks/c.ts > infra/edge/d.ts'],
  ['no-orphan', 'shared/files/a.ts'],
  ['not-to-tests', 'infra/local/a.ts > test/support/b.ts'],
  ['not-to-tests', 'infra/local/a.ts > docs/b.ts'],
  ['not-to-a-test-file', 'test/infra/a.test.ts > test/infra/b.test.ts'],
  ['tests-apart', 'test/infra/a.test.ts > test/operator/admin/b.ts'],
  ['tests-apart', 'test/support/a.ts > test/infra/b.ts'],
  ['alone', 'shared/files/a.ts > dashboard/b.ts'],
  ['alone', 'local-aws/a.ts > shared/errors.ts'],
  ['alone', 'examples/a.mjs > clients/typescript/b.ts'],
  ['contract-alone', 'shared/contract/limits.ts > shared/env.ts'],
  ['contract-alone', 'shared/contract/errors.ts > node:crypto'],
  ['client-without-packages', 'clients/typescript/a.ts > node:fs'],
  ['client-without-packages', 'clients/typescript/a.ts > deployed-package'],
  ['client-without-packages', 'clients/typescript/a.ts > shared/errors.ts'],
  ['sdk-in-stores', 'functions/a.ts > @aws-sdk/client-s3'],
  ['domain-without-aws', 'shared/files/a.ts > shared/aws/b.ts'],
  ['domain-without-http', 'shared/files/a.ts > shared/http/b.ts'],
  ['stores-without-http', 'shared/aws/a.ts > shared/stack/b.ts'],
  ['http-without-domain', 'shared/http/a.ts > shared/files/b.ts'],
  ['tools-at-the-bottom', 'shared/ids.ts > shared/files/b.ts'],
  ['functions-on-shared', 'functions/a.ts > infra/b.ts'],
  ['functions-apart', 'functions/a.ts > functions/b.ts'],
  ['functions-apart', 'functions/background/a.ts > functions/background/b.ts'],
  ['servers-apart', 'functions/canary/a.ts > functions/upload-stream/b.ts'],
  ['declarations-load-nothing', 'functions/files/a.route.ts > shared/env.ts'],
  [
    'every-route-is-listed',
    'functions/routes.ts > functions/auth/b.route.ts',
    'functions/files/a.ts > functions/files/a.route.ts',
  ],
  ['released-packages', 'functions/a.ts > package-of-developers'],
  ['infra-on-declarations', 'infra/stacks/a.ts > shared/files/b.ts'],
  ['infra-on-declarations', 'infra/stacks/a.ts > local-aws/b.ts'],
  ['commands-on-settings', 'operator/admin/a.ts > infra/stacks/b.ts'],
  ['smoke-through-the-door', 'operator/smoke/a.ts > shared/files/b.ts'],
  ['dashboard-on-client', 'dashboard/a.ts > shared/env.ts'],
  ['command-on-client', 'clients/cli/a.ts > shared/errors.ts'],
];

/** Packages that stand in `node_modules` of the scratch project. */
const DEPENDENCIES = { '@aws-sdk/client-s3': '1.0.0', 'deployed-package': '1.0.0' };
const DEV_DEPENDENCIES = { 'package-of-developers': '1.0.0' };

/** Writes a scratch project. @returns the rules that it breaks. */
async function brokenRules(sources: Readonly<Record<string, string>>): Promise<string[]> {
  const root = await mkdtemp(join(tmpdir(), 'imports-'));
  onTestFinished(() => rm(root, { recursive: true }));
  const packages = Object.keys({ ...DEPENDENCIES, ...DEV_DEPENDENCIES });
  const files = {
    'package.json': JSON.stringify({ dependencies: DEPENDENCIES, devDependencies: DEV_DEPENDENCIES }),
    ...Object.fromEntries(packages.map((name) => [`node_modules/${name}/index.js`, ''])),
    ...sources,
  };
  for (const [file, source] of Object.entries(files)) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), source);
  }
  const { forbidden = [], options } = CONFIGURATION;
  const { output } = await cruise(['.'], { ...options, baseDir: root, validate: true, ruleSet: { forbidden } });
  return [...new Set((output as ICruiseResult).summary.violations.map(({ rule }) => rule.name))];
}

/** The sources of files that import each other as told. */
function sourcesOf(imports: readonly string[]): Record<string, string> {
  const sources: Record<string, string> = {};
  for (const [from = '', to] of imports.map((each) => each.split(' > '))) {
    const isFile = to && /\.\w+$/.test(to);
    if (isFile) sources[to] ??= '';
    sources[from] = to ? `import '${isFile ? specifierOf(from, to) : to}';` : '';
  }
  return sources;
}

const specifierOf = (from: string, to: string) => relative(dirname(`./${from}`), to).replace(/^(?!\.)/, './');

test.each(BROKEN)('the rule %s refuses %s', async (rule, ...imports) => {
  expect(await brokenRules(sourcesOf(imports))).toEqual([rule]);
});

test('each rule is tried', () => {
  const rules = CONFIGURATION.forbidden?.map(({ name }) => name);
  expect([...new Set(BROKEN.map(([rule]) => rule))]).toEqual(rules);
});

test.each([
  ['an import of a type', `import type { A } from '../aws/a.ts';`],
  ['an export of names', `export { a } from '../aws/a.ts';`],
  ['an export of a type', `export type { A } from '../aws/a.ts';`],
  ['an export of everything', `export * from '../aws/a.ts';`],
  ['a dynamic import', `export const a = await import('../aws/a.ts');`],
])('a rule sees %s', async (_form, source) => {
  expect(await brokenRules({ 'shared/files/b.ts': source, 'shared/aws/a.ts': '' })).toEqual(['domain-without-aws']);
});

// dependency-cruiser does not see these.
test.each([
  ['a type import()', `export type A = import('../aws/a.ts').A;`],
  ['a typeof import()', `export let a: typeof import('../aws/a.ts').a;`],
])('Biome refuses %s', async (_form, source) => {
  const root = await mkdtemp(join(tmpdir(), 'imports-'));
  onTestFinished(() => rm(root, { recursive: true }));
  await writeFile(join(root, 'b.ts'), source);
  const biome = ['node_modules/.bin/biome', 'lint', '--config-path', PROJECT, root];
  const { status, stderr } = spawnSync(process.execPath, biome, { cwd: PROJECT, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('Write `import type`') });
});
