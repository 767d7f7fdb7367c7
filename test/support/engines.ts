import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import chromium from '@sparticuz/chromium';
import type { TestProject } from 'vitest/node';
import { startEngine } from '../../local-aws/dynamodb/engine.ts';
import { HAS_BROWSER } from './browser.ts';
import { inherited } from './inherited.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The endpoint of the one in-memory engine of the test run. Each test file creates tables with names of its own. */
    dynamoDbEndpoint: string;
    /** The directory of the synthesized service, stage `local`, with every limit at its default. */
    assembly: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // All temporary files of the tests and of the programs they start are below one directory, which is removed at the end.
  const directory = await mkdtemp(join(tmpdir(), 'file-hosting-tests-'));
  process.env.TMPDIR = directory;
  // Programs that the tests start a hundred times share one compile cache.
  process.env.NODE_COMPILE_CACHE = join(directory, 'compiled');
  const outdir = join(directory, 'assembly');
  // Unpack the browser before tests run in parallel: the package takes a half-unpacked file for a complete one.
  const browser = HAS_BROWSER ? chromium.executablePath() : undefined;
  const [dynamoDb] = await Promise.all([startEngine(), synthesize(outdir), browser]);
  project.provide('dynamoDbEndpoint', dynamoDb.endpoint);
  project.provide('assembly', outdir);
  return async () => {
    await dynamoDb.close();
    // A program that is just ending may still write to its compile cache.
    await rm(directory, { recursive: true, force: true, maxRetries: 10 });
  };
}

/**
 * Builds and synthesizes everything by the function that `npm start` calls. It runs in another process, so that a limit in the
 * environment of the test run has no effect.
 */
async function synthesize(outdir: string): Promise<void> {
  const { href } = pathToFileURL(join(import.meta.dirname, '../../infra/local/synthesize.ts'));
  const script = `import { synthesize } from ${JSON.stringify(href)}; await synthesize(${JSON.stringify(outdir)});`;
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], { env: inherited() });
}
