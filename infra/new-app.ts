import { createRequire } from 'node:module';
import { App, Validations } from 'aws-cdk-lib';
import { FAIL_SYNTH_ON_VALIDATION_ERRORS_CONTEXT, STRICT_CFN_VALIDATE_ERRORS } from 'aws-cdk-lib/cx-api';
import type { Environment } from './settings/operator-variables.ts';

/** Every finding about a template, even a warning, fails the synthesis, whatever the options of the CLI say. */
const STRICT = { [FAIL_SYNTH_ON_VALIDATION_ERRORS_CONTEXT]: true, [STRICT_CFN_VALIDATE_ERRORS]: true };

/**
 * Makes an app whose templates are validated when it is synthesized: against CloudFormation's published schemas, and by the
 * AwsSolutions rules. `CDK_VALIDATION=false` in the environment skips both, which take half of the time.
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
    // Loaded only here, because the rules take a while to load.
    const { AwsSolutionsRules } = await import('./rules.ts');
    Validations.of(app).addPlugins(new AwsSolutionsRules());
  }
  return app;
}
