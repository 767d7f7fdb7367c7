import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { startBundling } from '../../infra/bundle/start-bundling.ts';
import type { SynthesisSettings } from '../../infra/new-app.ts';
import { readStage, type StageName, type StageSettings } from '../../infra/settings/stage.ts';
import { STAGES } from '../../infra/stages/stages.ts';
import { synthesizeApp } from '../../infra/synthesize-app.ts';
import {
  type Assembly,
  loadAssembly,
  type Template,
  type TemplateResource,
} from '../../local-aws/template/assembly.ts';

/** A synthesized service, in a temporary directory. */
export interface SynthesizedStage extends Assembly {
  readonly directory: string;
  remove(): Promise<void>;
}

/**
 * Synthesizes a stage, without validation, from the bundles that the test run has built. It runs in this process, because a
 * separate one would take longer to load CDK than to build the stacks.
 * @param changes  settings that replace those in the file of the stage.
 * @param how  environment variables of the synthesis.
 */
export async function synthesizeStage(
  name: StageName,
  changes: Partial<StageSettings> = {},
  how: Partial<SynthesisSettings> = {},
): Promise<SynthesizedStage> {
  const directory = await mkdtemp(join(tmpdir(), 'stage-'));
  const remove = () => rm(directory, { recursive: true, force: true });
  try {
    const settings = { CDK_OUTDIR: directory, CDK_VALIDATION: 'false', ...how };
    const bundles = startBundling(directory, join(inject('assembly'), 'bundles'));
    await synthesizeApp(readStage(name, { ...STAGES[name], ...changes }), bundles, settings);
    return { directory, remove, ...(await loadAssembly(directory)) };
  } catch (error) {
    await remove();
    throw error;
  }
}

const known = new Map<string, Promise<Record<string, Template>>>();

/**
 * Synthesizes like {@link synthesizeStage} and keeps only the templates, by the last part of their stack's name (`Api`). The test
 * files of a process share them.
 */
export function templatesOf(
  stage: StageName,
  changes: Partial<StageSettings> = {},
): Promise<Readonly<Record<string, Template>>> {
  const key = JSON.stringify([stage, { ...STAGES[stage], ...changes }]);
  const templates = known.get(key) ?? synthesizeTemplates(stage, changes);
  known.set(key, templates);
  return templates;
}

async function synthesizeTemplates(
  stage: StageName,
  changes: Partial<StageSettings>,
): Promise<Record<string, Template>> {
  const { templates, remove } = await synthesizeStage(stage, changes);
  await remove();
  return Object.fromEntries(
    Object.entries(templates).map(([name, template]) => [name.replace(/^FileHosting-\w+-(\w+).*$/, '$1'), template]),
  );
}

export function resourcesOf(template: Template | undefined, type: string): TemplateResource[] {
  return Object.values(template?.Resources ?? {}).filter(({ Type }) => Type === type);
}

/** The configuration of a stack's only distribution. */
export function distributionOf(template: Template | undefined): Record<string, unknown> {
  const [only] = resourcesOf(template, 'AWS::CloudFront::Distribution');
  return only?.Properties?.DistributionConfig as Record<string, unknown>;
}
