import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject } from 'vitest';
import { startBundling } from '../../infra/bundle/start-bundling.ts';
import { readStage, type StageName, type StageSettings } from '../../infra/settings/stage.ts';
import { STAGES } from '../../infra/stages/stages.ts';
import { synthesizeApp } from '../../infra/synthesize-app.ts';
import { loadAssembly } from '../../local-aws/template/assembly.ts';

interface Violation {
  readonly ruleName: string;
  readonly severity: string;
  readonly violatingConstructs: readonly { readonly constructPath: string }[];
}

/** The report of one validation plugin, as CDK writes it. */
interface PluginReport {
  readonly pluginName: string;
  readonly violations: readonly Violation[];
  readonly suppressedViolations?: readonly (Violation & {
    readonly acknowledgedId: string;
    readonly acknowledgedAt: string;
  })[];
}

/** Reads the validation reports of a synthesis, whether it succeeded or not. */
export async function readReports(directory: string): Promise<readonly PluginReport[]> {
  return JSON.parse(await readFile(join(directory, 'validation-report.json'), 'utf8')).pluginReports;
}

/**
 * Synthesizes a stage with all validation. Expects that every accepted finding was in fact found, is accepted on the construct that has it,
 * and gives a reason.
 */
export async function expectAccepted(name: StageName, changes: Partial<StageSettings> = {}): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'findings-'));
  try {
    const stage = readStage(name, { ...STAGES[name], ...changes });
    const bundles = startBundling(directory, join(inject('assembly'), 'bundles'));
    await synthesizeApp(stage, bundles, { CDK_OUTDIR: directory });
    const found = await readFound(directory);
    expect(found.length).toBeGreaterThan(0);
    expect(found.filter((finding) => finding.at !== finding.in)).toEqual([]);

    const accepted = await readAccepted(directory);
    const stacks = Object.keys((await loadAssembly(directory)).templates);
    expect(accepted.filter(({ at }) => stacks.includes(at))).toEqual([]);
    expect(accepted.filter(({ reason }) => reason.split(' ').length < 8)).toEqual([]);
    // The report does not contain accepted warnings of CDK itself.
    const byRules = accepted.filter(({ id }) => !id.startsWith('Annotation::'));
    expect(distinct(byRules)).toEqual(distinct(found));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Reads the findings that were suppressed because they are accepted. */
async function readFound(directory: string): Promise<{ id: string; at: string; in: string }[]> {
  const reports = await readReports(directory);
  return reports
    .flatMap(({ suppressedViolations = [] }) => suppressedViolations)
    .flatMap(({ acknowledgedId: id, acknowledgedAt: at, violatingConstructs }) =>
      violatingConstructs.map(({ constructPath }) => ({ id, at, in: constructPath })),
    );
}

/** Reads all acceptances, whether the finding occurred or not. */
async function readAccepted(directory: string): Promise<{ id: string; at: string; reason: string }[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.metadata.json'));
  const texts = await Promise.all(files.map((file) => readFile(join(directory, file), 'utf8')));
  type Metadata = Record<string, readonly { type: string; data: Record<string, string> }[]>;
  return texts
    .flatMap((text) => Object.entries(JSON.parse(text) as Metadata))
    .flatMap(([path, entries]) =>
      entries
        .filter(({ type }) => type === 'aws:cdk:acknowledged-rules')
        .flatMap(({ data }) => Object.entries(data))
        .map(([id, reason]) => ({ id, at: path.slice(1), reason })),
    );
}

function distinct(findings: readonly { id: string; at: string }[]): string[] {
  return [...new Set(findings.map(({ id, at }) => `${at} ${id}`))].sort();
}
