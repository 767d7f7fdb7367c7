import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect, inject, test } from 'vitest';
import { buildDashboard, dashboardIn } from '../../infra/bundle/build-dashboard.ts';

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
