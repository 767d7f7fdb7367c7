import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bundledPackages } from './packages.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The licences under which packages may be deployed. They require only that we keep their text and the copyright notice. */
export const ALLOWED_LICENCES = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT'];

interface Component {
  /** `name@version`. */
  readonly 'bom-ref': string;
  readonly licenses?: readonly { readonly license?: { readonly id?: string }; readonly expression?: string }[];
}

/** A software bill of materials in the format CycloneDX, as npm writes it. */
export interface Bom {
  readonly bomFormat: 'CycloneDX';
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

/**
 * Makes the bill of materials of what is deployed: the packages in package-lock.json whose code is in a bundle. The runtime (Node)
 * and CDK's own functions, which copy files during a deployment, are not in it.
 * @param bundles  a folder that has been built.
 * @throws Error naming a bundled package that is not in package-lock.json.
 */
export async function sbomOf(bundles: string): Promise<Bom> {
  // Vite sets NODE_ENV to `production` when it builds the dashboard. With this value, npm would leave out the packages for development.
  const env = { ...process.env, NODE_ENV: undefined };
  const options = { cwd: ROOT, maxBuffer: 64 * 1_024 * 1_024, env };
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
  const { stdout } = await promisify(execFile)('npm', args, options);
  const all = JSON.parse(stdout) as Bom;
  const bundled = new Set(await bundledPackages(bundles));
  const components = all.components.filter((component) => bundled.has(component['bom-ref']));
  const missing = [...bundled].filter((name) => !components.some((component) => component['bom-ref'] === name));
  if (missing.length > 0) throw new Error(`not in package-lock.json: ${missing.join(', ')}`);
  return {
    ...all,
    // npm would use the name of the folder.
    metadata: { ...all.metadata, component: { ...all.metadata.component, name: 'file-hosting' } as Component },
    components,
    dependencies: [
      { ref: all.metadata.component['bom-ref'], dependsOn: [...bundled] },
      ...all.dependencies
        .filter(({ ref }) => bundled.has(ref))
        .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((name) => bundled.has(name)) })),
    ],
  };
}

/** The licences of a component. An SPDX expression, such as `MIT OR ISC`, is one entry. */
export function licencesOf({ licenses = [] }: Component): string[] {
  return licenses.map(({ license, expression }) => license?.id ?? expression ?? 'unknown');
}
