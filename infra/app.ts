import { stageOf } from './stages/stages.ts';
import { synthesizeApp } from './synthesize-app.ts';

/**
 * The program that the CDK CLI runs (cdk.json). The variable `STAGE` names the stage. The CLI passes the context of its command
 * line in `CDK_CONTEXT_JSON`.
 */
await synthesizeApp(stageOf(process.env), process.env);
