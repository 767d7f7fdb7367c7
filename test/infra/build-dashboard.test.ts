import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import { buildDashboard, dashboardIn } from '../../infra/bundle/build-dashboard.ts';
import { inherited } from '../support/inherited.ts';

test('a build into a path relative to the current directory, as in cdk.json, replaces the previous build there', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'dashboard-'));
  const before = dashboardIn(directory);
  try {
    await cp(dashboardIn(join(inject('assembly'), 'bundles')).pages, before.pages, { recursive: true });
    await cp(dashboardIn(join(inject('assembly'), 'bundles')).assets, before.assets, { recursive: true });
    const built = await readdir(before.assets);
    for (const folder of Object.values(before)) await writeFile(join(folder, 'of-an-earlier-version.js'), '');
    expect(await buildDashboard(relative(process.cwd(), directory))).toEqual(before);
    expect(await readdir(before.assets)).toEqual(built);
    expect(await readdir(before.pages)).toContain('index.html');
    expect(await readdir(before.pages)).not.toContain('of-an-earlier-version.js');
    expect(await readdir(directory)).toEqual(['dashboard', 'dashboard-assets', 'dashboard-packages.json']);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test('a build writes only into its folder, because the project may be on a read-only file system', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'dashboard-'));
  try {
    const module = JSON.stringify(new URL('../../infra/bundle/build-dashboard.ts', import.meta.url));
    const script = `const { buildDashboard } = await import(${module}); await buildDashboard(${JSON.stringify(directory)});`;
    const allowed = ['--allow-fs-read=*', `--allow-fs-write=${directory}`, '--allow-addons', '--allow-worker'];
    const options = ['--permission', ...allowed, '--no-warnings', '--input-type=module', '--eval', script];
    await promisify(execFile)(process.execPath, options, { env: { ...inherited(), NODE_COMPILE_CACHE: undefined } });
    expect(await readdir(directory)).toContain('dashboard');
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
