import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CLIENTS, markOf, nameOf } from './clients.ts';
import { INSTALL, lacking, TOOLS } from './tools.ts';

/**
 * Installs the generators of clients, and what their clients need, into the folder that `CLIENT_GENERATORS` names. It compiles each
 * client once. From then on `test/docs/generators.soak.ts` needs no network. What cannot be installed is named, and left out.
 */
const DOCUMENT = join(import.meta.dirname, '../../../docs/openapi.json');
const installed = new Map<string, Promise<void>>();

await mkdir(join(TOOLS, 'ready'), { recursive: true });
for (const client of CLIENTS) {
  const directory = await mkdtemp(join(tmpdir(), 'file-hosting-install-'));
  try {
    const missing = lacking(client.programs);
    if (missing) throw new Error(`this machine lacks ${missing}`);
    for (const tool of client.tools) {
      if (!installed.has(tool)) installed.set(tool, INSTALL[tool]());
      await installed.get(tool);
    }
    await client.generate(DOCUMENT, directory);
    await client.fetchLibraries?.(directory);
    await writeFile(markOf(client), '');
    console.log(`${nameOf(client)} ${client.version}: installed`);
  } catch (error) {
    console.error(`${nameOf(client)} ${client.version} is left out: ${(error as Error).message}`);
  }
  await rm(directory, { recursive: true });
}
console.log(`In ${TOOLS}. Now: npx vitest run --config vitest.soak.config.ts test/docs/generators.soak.ts`);
