import { startBundling } from './bundle/start-bundling.ts';
import { stageOf } from './stages/stages.ts';

/**
 * The program that the CDK CLI runs (cdk.json). The variable `STAGE` names the stage. The CLI passes the context of its command
 * line in `CDK_CONTEXT_JSON`.
 */
const { CDK_OUTDIR = 'cdk.out', CDK_BUNDLES } = process.env;
const stage = stageOf(process.env);
const bundles = startBundling(CDK_OUTDIR, CDK_BUNDLES);
// The CDK takes a second to load, in which the bundles are built.
const { synthesizeApp } = await import('./synthesize-app.ts');
await synthesizeApp(stage, bundles, { ...process.env, CDK_OUTDIR });
