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

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const outdir = await mkdtemp(join(tmpdir(), 'file-hosting-assembly-'));
  const [dynamoDb] = await Promise.all([startDynamoDbLocal(), synthesize(outdir)]);
  project.provide('dynamoDbEndpoint', dynamoDb.endpoint);
  project.provide('assembly', outdir);
  return async () => {
    await Promise.all([dynamoDb.close(), rm(outdir, { recursive: true, force: true })]);
  };
}

/** As `npm run synth` does, without the command around it. */
async function synthesize(outdir: string): Promise<void> {
  const env = { PATH: process.env.PATH, CDK_OUTDIR: outdir, CDK_CONTEXT_JSON: JSON.stringify({ stage: 'dev' }) };
  await promisify(execFile)(process.execPath, [join(import.meta.dirname, '../../infra/app.ts')], { env });
}
