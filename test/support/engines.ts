import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import chromium from '@sparticuz/chromium';
import type { TestProject } from 'vitest/node';
import { startDynamoDbLocal } from '../../local-aws/dynamodb/dynamodb-local.ts';
import { HAS_BROWSER } from './browser.ts';
import { inherited } from './inherited.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** One engine in memory for the whole run; each test file makes tables of its own names. */
    dynamoDbEndpoint: string;
    /** The synthesized service, stage `dev`, with every limit at its default. */
    assembly: string;
  }
}

/** The endpoint of a DynamoDB Local that is already running. Set it to start many test runs faster. */
export const SHARED_ENGINE_VARIABLE = 'SHARED_DYNAMODB_ENDPOINT';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // What tests and the programs they start put aside goes when they end, whether they clear it up or not.
  const directory = await mkdtemp(join(tmpdir(), 'file-hosting-tests-'));
  process.env.TMPDIR = directory;
  // Commands that are started a hundred times load what is compiled, if they are given this, too.
  process.env.NODE_COMPILE_CACHE = join(directory, 'compiled');
  const outdir = join(directory, 'assembly');
  const shared = process.env[SHARED_ENGINE_VARIABLE];
  const engine = shared === undefined ? startDynamoDbLocal() : { endpoint: shared, close: async () => undefined };
  // The browser is unpacked before anybody can meet half of it: the package takes a file that is there for a whole one.
  const browser = HAS_BROWSER ? chromium.executablePath() : undefined;
  const [dynamoDb] = await Promise.all([engine, synthesize(outdir), browser]);
  project.provide('dynamoDbEndpoint', dynamoDb.endpoint);
  project.provide('assembly', outdir);
  return async () => {
    await dynamoDb.close();
    // A program that is ending may still keep what it compiled.
    await rm(directory, { recursive: true, force: true, maxRetries: 10 });
  };
}

/** As `npm run synth` does, without the command around it and the checks, which are tests of their own. */
async function synthesize(outdir: string): Promise<void> {
  const settings = { CDK_OUTDIR: outdir, CDK_CONTEXT_JSON: JSON.stringify({ stage: 'dev' }), CDK_VALIDATION: 'false' };
  const env = { ...inherited(), ...settings };
  await promisify(execFile)(process.execPath, [join(import.meta.dirname, '../../infra/app.ts')], { env });
}
