import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { buildDashboard } from '../../infra/bundle/build-dashboard.ts';

test('a build takes the place of the one before, as every synthesis after the first does', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'dashboard-'));
  try {
    const { assets } = await buildDashboard(directory);
    const built = await readdir(assets);
    await writeFile(join(assets, 'of-an-earlier-version.js'), '');
    await buildDashboard(directory);
    expect(await readdir(assets)).toEqual(built);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test('a build goes where the caller says from where it is, as cdk.json does with "cdk.out"', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'dashboard-'));
  try {
    const { pages } = await buildDashboard(relative(process.cwd(), directory));
    expect(await readdir(pages)).toContain('index.html');
    expect(await readdir(directory)).toEqual(['dashboard', 'dashboard-assets']);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
