import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { synthesizeApp } from '../../infra/synthesize-app.ts';
import {
  type Assembly,
  loadAssembly,
  type Template,
  type TemplateResource,
} from '../../local-aws/template/assembly.ts';

/** A synthesized service in a directory of its own. */
export interface SynthesizedStage extends Assembly {
  readonly directory: string;
  remove(): Promise<void>;
}

/**
 * Synthesizes the service as an operator chose it, without the checks, of what the run of the tests has built; in this
 * process, for a process of its own would spend more time on loading CDK than on the stacks.
 * @param variables  limits and allow-lists, and `CDK_DEFAULT_REGION`, in which the CLI says where it would deploy to.
 */
export async function synthesizeStage(
  context: Readonly<Record<string, string>>,
  variables: Readonly<Record<string, string>> = {},
): Promise<SynthesizedStage> {
  const directory = await mkdtemp(join(tmpdir(), 'stage-'));
  const remove = () => rm(directory, { recursive: true, force: true });
  try {
    const settings = {
      CDK_OUTDIR: directory,
      CDK_VALIDATION: 'false',
      CDK_BUNDLES: join(inject('assembly'), 'bundles'),
    };
    await synthesizeApp({ ...settings, ...variables }, context);
    return { directory, remove, ...(await loadAssembly(directory)) };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** The same, of which only the templates are kept: by the last part of their stack's name. */
export async function templatesOf(
  context: Readonly<Record<string, string>>,
  variables: Readonly<Record<string, string>> = {},
): Promise<Record<string, Template>> {
  const { templates, remove } = await synthesizeStage(context, variables);
  await remove();
  return Object.fromEntries(
    Object.entries(templates).map(([name, template]) => [name.replace(/^FileHosting-\w+-(\w+).*$/, '$1'), template]),
  );
}

export function resourcesOf(template: Template | undefined, type: string): TemplateResource[] {
  return Object.values(template?.Resources ?? {}).filter(({ Type }) => Type === type);
}

/** The configuration of the one distribution that a stack has. */
export function distributionOf(template: Template | undefined): Record<string, unknown> {
  const [only] = resourcesOf(template, 'AWS::CloudFront::Distribution');
  return only?.Properties?.DistributionConfig as Record<string, unknown>;
}
