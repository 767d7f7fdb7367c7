import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { startDynamoDbLocal } from '../../infra/local/dynamodb/dynamodb-local.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** One engine in memory for the whole run; each test file makes tables of its own names. */
    dynamoDbEndpoint: string;
    /** The synthesized service, stage `dev`, with every limit at its default. */
    assembly: string;
  }
}

/** Of an engine that runs already, and serves many runs (test/flips/run.ts). */
export const SHARED_ENGINE_VARIABLE = 'SHARED_DYNAMODB_ENDPOINT';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const outdir = await mkdtemp(join(tmpdir(), 'file-hosting-assembly-'));
  const shared = process.env[SHARED_ENGINE_VARIABLE];
  const engine = shared === undefined ? startDynamoDbLocal() : { endpoint: shared, close: async () => undefined };
  const [dynamoDb] = await Promise.all([engine, synthesize(outdir)]);
  project.provide('dynamoDbEndpoint', dynamoDb.endpoint);
  project.provide('assembly', outdir);
  return async () => {
    await Promise.all([dynamoDb.close(), rm(outdir, { recursive: true, force: true })]);
  };
}

/** As `npm run synth` does, without the command around it and the checks, which are tests of their own. */
async function synthesize(outdir: string): Promise<void> {
  const settings = { CDK_OUTDIR: outdir, CDK_CONTEXT_JSON: JSON.stringify({ stage: 'dev' }), CDK_VALIDATION: 'false' };
  const env = { PATH: process.env.PATH, ...settings };
  await promisify(execFile)(process.execPath, [join(import.meta.dirname, '../../infra/app.ts')], { env });
}
