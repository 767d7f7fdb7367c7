import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject } from 'vitest';
import { synthesizeApp } from '../../infra/synthesize-app.ts';
import { loadAssembly } from '../../local-aws/template/assembly.ts';

interface Violation {
  readonly ruleName: string;
  readonly severity: string;
  readonly violatingConstructs: readonly { readonly constructPath: string }[];
}

/** What one of those who check templates has to say. */
interface PluginReport {
  readonly pluginName: string;
  readonly violations: readonly Violation[];
  readonly suppressedViolations?: readonly (Violation & {
    readonly acknowledgedId: string;
    readonly acknowledgedAt: string;
  })[];
}

/** The reports of a synthesis, failed or not. */
export async function readReports(directory: string): Promise<readonly PluginReport[]> {
  return JSON.parse(await readFile(join(directory, 'validation-report.json'), 'utf8')).pluginReports;
}

/**
 * Synthesizes the service with all checks, and expects of every accepted finding that it is accepted where it was found,
 * that there is a reason, and that it was found.
 */
export async function expectAccepted(context: Record<string, string>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'findings-'));
  try {
    await synthesizeApp({ CDK_OUTDIR: directory, CDK_BUNDLES: join(inject('assembly'), 'bundles') }, context);
    const found = await readFound(directory);
    expect(found.length).toBeGreaterThan(0);
    expect(found.filter((finding) => finding.at !== finding.in)).toEqual([]);

    const accepted = await readAccepted(directory);
    const stacks = Object.keys((await loadAssembly(directory)).templates);
    expect(accepted.filter(({ at }) => stacks.includes(at))).toEqual([]);
    expect(accepted.filter(({ reason }) => reason.split(' ').length < 8)).toEqual([]);
    // What CDK warns of by itself is not in the report when it is accepted.
    const byRules = accepted.filter(({ id }) => !id.startsWith('Annotation::'));
    expect(distinct(byRules)).toEqual(distinct(found));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** What was found but accepted. */
async function readFound(directory: string): Promise<{ id: string; at: string; in: string }[]> {
  const reports = await readReports(directory);
  return reports
    .flatMap(({ suppressedViolations = [] }) => suppressedViolations)
    .flatMap(({ acknowledgedId: id, acknowledgedAt: at, violatingConstructs }) =>
      violatingConstructs.map(({ constructPath }) => ({ id, at, in: constructPath })),
    );
}

/** What is accepted, found or not. */
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
