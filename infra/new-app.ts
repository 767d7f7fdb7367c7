import { createRequire } from 'node:module';
import { App } from 'aws-cdk-lib';

/**
 * An app as every synthesis of ours begins with it: by CDK's recommended flags, of which one makes whatever the schema of
 * CloudFormation finds fail the synthesis, where it would only be a warning.
 */
export function newApp(outdir: string): App {
  const recommendedFlags = createRequire(import.meta.url)('aws-cdk-lib/recommended-feature-flags.json');
  return new App({ outdir, context: recommendedFlags, autoSynth: false });
}
