import { synthesizeApp } from './synthesize-app.ts';

/** What the command `cdk` runs (cdk.json), with the context of its command line in `CDK_CONTEXT_JSON`. */
await synthesizeApp(process.env);
