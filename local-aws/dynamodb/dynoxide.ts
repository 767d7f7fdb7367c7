import { randomInt } from 'node:crypto';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { EngineProgram } from './engine-program.ts';

/**
 * Dynoxide: DynamoDB's API on SQLite, one binary. It syncs each commit to disk before it acknowledges the write, and checks no signature.
 * Source: https://github.com/nubo-db/dynoxide
 */
export const DYNOXIDE: EngineProgram = {
  name: 'Dynoxide',
  keepsData: true,
  // It answers pages of every origin, so a page that knew the address could change the tables. macOS has only this one address.
  hiddenAddress: () => ({ host: process.platform === 'darwin' ? '127.0.0.1' : randomLoopbackAddress() }),
  command: ({ host, port }, file) => ({
    command: join(String(packageFolder()), 'dynoxide'),
    args: ['--host', host, '--port', String(port), ...(file === undefined ? [] : ['--db-path', file])],
  }),
  whyItFailed: (code, stderr) => `Dynoxide ended with ${code}: ${stderr}`,
};

export const isDynoxideInstalled = () => packageFolder() !== undefined;

/** Adds the package of this platform beside those of the lockfile, which has only the one that was tried. */
export const INSTALL_DYNOXIDE = `npm install --no-save @dynoxide/${process.platform}-${process.arch}@1.2.1`;

/** @returns undefined where the package is not installed. */
function packageFolder(): string | undefined {
  const { resolve } = createRequire(import.meta.url);
  try {
    return dirname(resolve(`@dynoxide/${process.platform}-${process.arch}/package.json`));
  } catch {
    return undefined;
  }
}

/** All addresses of 127.0.0.0/8 are this machine. */
const randomLoopbackAddress = () => `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`;
