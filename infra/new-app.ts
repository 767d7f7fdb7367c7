import { createRequire } from 'node:module';
import { App, Validations } from 'aws-cdk-lib';
import { FAIL_SYNTH_ON_VALIDATION_ERRORS_CONTEXT, STRICT_CFN_VALIDATE_ERRORS } from 'aws-cdk-lib/cx-api';

/**
 * Environment variables that the CDK CLI, npm, `npm start` and tests set. They change how the synthesis runs, and have no effect on what is
 * deployed.
 */
export interface SynthesisSettings {
  /** The output directory. */
  readonly CDK_OUTDIR: string;
  /** `false` skips the validation, which takes half of the time. */
  readonly CDK_VALIDATION?: string;
  /** npm sets this for `-c` on its command line, which a person may have meant as `-c` of the CDK. */
  readonly npm_config_call?: string;
}

/** Every finding about a template, even a warning, fails the synthesis, whatever the options of the CLI say. */
const STRICT = { [FAIL_SYNTH_ON_VALIDATION_ERRORS_CONTEXT]: true, [STRICT_CFN_VALIDATE_ERRORS]: true };

/** Names of context that the CDK CLI itself sets. All other names that it sets contain a colon, a slash or an @. */
const CONTEXT_OF_CDK = ['cli-telemetry', 'acknowledged-issue-numbers'];

/**
 * Makes an app whose templates are validated when it is synthesized: against CloudFormation's published schemas, and by the
 * AwsSolutions rules.
 * @throws Error naming a context of the command line, because only the file of a stage says what is deployed.
 */
export async function newApp(settings: SynthesisSettings): Promise<App> {
  const recommendedFlags = createRequire(import.meta.url)('aws-cdk-lib/recommended-feature-flags.json');
  const isChecked = settings.CDK_VALIDATION !== 'false';
  const app = new App({
    outdir: settings.CDK_OUTDIR,
    context: recommendedFlags,
    postCliContext: STRICT,
    autoSynth: false,
    // Writes `tree.json`, for tools that show the constructs; `npm start` and tests do not need this file.
    treeMetadata: isChecked,
    builtinCloudFormationValidation: isChecked,
  });
  rejectContext(app, settings.npm_config_call);
  if (isChecked) {
    // Loaded only here, because the rules take a while to load.
    const { AwsSolutionsChecks } = await import('cdk-nag');
    Validations.of(app).addPlugins(new AwsSolutionsChecks());
  }
  return app;
}

/** @param call  what npm has taken as its own option `-c`: in `npm run synth -c x=y` it does not reach the CDK. */
function rejectContext(app: App, call: string | undefined): void {
  const names = Object.keys(app.node.getAllContext()).filter((name) => /^[\w-]+$/.test(name));
  const given = call || names.find((name) => !CONTEXT_OF_CDK.includes(name));
  if (!given) return;
  throw new Error(`"-c ${given}" has no effect: the settings of a stage are in its file in infra/stages`);
}
