import { createRequire } from 'node:module';
import { App, Validations } from 'aws-cdk-lib';
import { FAIL_SYNTH_ON_VALIDATION_ERRORS_CONTEXT, STRICT_CFN_VALIDATE_ERRORS } from 'aws-cdk-lib/cx-api';
import type { Environment } from './settings/operator-variables.ts';

/** Whatever has something against a template, be it a warning, fails the synthesis, also under a CLI that would go on. */
const STRICT = { [FAIL_SYNTH_ON_VALIDATION_ERRORS_CONTEXT]: true, [STRICT_CFN_VALIDATE_ERRORS]: true };

/**
 * An app whose templates are checked when it is synthesized: by CDK, against CloudFormation's published schemas, and by the
 * AwsSolutions rules. `CDK_VALIDATION=false` in the environment leaves out both, which take as long as all the rest.
 */
export async function newApp(environment: Environment, context: Readonly<Record<string, string>> = {}): Promise<App> {
  const recommendedFlags = createRequire(import.meta.url)('aws-cdk-lib/recommended-feature-flags.json');
  const isChecked = environment.CDK_VALIDATION !== 'false';
  const app = new App({
    outdir: environment.CDK_OUTDIR ?? 'cdk.out',
    context: { ...recommendedFlags, ...context },
    postCliContext: STRICT,
    autoSynth: false,
    builtinCloudFormationValidation: isChecked,
  });
  if (isChecked) {
    // Loading all rules of all packs takes a while.
    const { AwsSolutionsRules } = await import('./rules.ts');
    Validations.of(app).addPlugins(new AwsSolutionsRules());
  }
  return app;
}
