import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
