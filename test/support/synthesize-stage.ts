import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { loadAssembly, type Template, type TemplateResource } from '../../infra/local/template/assembly.ts';

const ROOT = join(import.meta.dirname, '../..');

/**
 * Synthesizes the service as an operator would.
 * @param context  what is given as `-c name=value`.
 * @param region  where the CLI would deploy to; absent: without a CLI.
 * @returns the templates by the last part of their stack's name.
 */
export async function synthesizeStage(
  context: Record<string, string>,
  region?: string,
): Promise<Record<string, Template>> {
  const directory = await mkdtemp(join(tmpdir(), 'stage-'));
  try {
    const env = { PATH: process.env.PATH, CDK_CONTEXT_JSON: JSON.stringify(context), CDK_OUTDIR: directory };
    await promisify(execFile)(process.execPath, ['infra/app.ts'], {
      cwd: ROOT,
      env: { ...env, CDK_VALIDATION: 'false', ...(region !== undefined && { CDK_DEFAULT_REGION: region }) },
    });
    const { templates } = await loadAssembly(directory);
    return Object.fromEntries(
      Object.entries(templates).map(([name, template]) => [name.replace(/^FileHosting-\w+-/, ''), template]),
    );
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

export function resourcesOf(template: Template | undefined, type: string): TemplateResource[] {
  return Object.values(template?.Resources ?? {}).filter(({ Type }) => Type === type);
}

/** The configuration of the one distribution that a stack has. */
export function distributionOf(template: Template | undefined): Record<string, unknown> {
  const [only] = resourcesOf(template, 'AWS::CloudFront::Distribution');
  return only?.Properties?.DistributionConfig as Record<string, unknown>;
}
