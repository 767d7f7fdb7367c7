import { synthesizeApp } from './synthesize-app.ts';

/** The program that the CDK CLI runs (cdk.json). The CLI passes the context of its command line in `CDK_CONTEXT_JSON`. */
await synthesizeApp(process.env);
