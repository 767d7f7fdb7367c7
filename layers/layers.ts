/** A group of files, and what these files may import besides each other. */
export interface Layer {
  /**
   * A file, a folder with all its subfolders, or, as `folder/*`, the files directly in a folder; as a path from the root of the project. If
   * several rows contain a file, it belongs to the row with the longest path.
   */
  readonly path: string;
  readonly what: string;
  /** Files and folders of lower rows, written like `path`. */
  readonly imports: readonly string[];
  /** A package stands for its subpaths as well. A name that ends in `*` stands for every name that begins with the text before the `*`. */
  readonly packages: readonly string[];
  /** True if the files of this row must not import each other. */
  readonly isApart?: boolean;
}

/** A limit for a number of files: of those in a folder, or of those that one file reaches by its imports. */
export type Bound = { readonly what: string; readonly max: number } & (
  | { readonly within: string }
  | { readonly reachedFrom: string }
);

export const BOUNDS: readonly Bound[] = [
  { what: 'files in shared/', within: 'shared', max: 110 },
  { what: 'files in local-aws/', within: 'local-aws', max: 120 },
  {
    what: 'files that functions/upload-file.ts reaches, with itself',
    reachedFrom: 'functions/upload-file.ts',
    max: 80,
  },
];

/** What the stacks take from the product: the files that declare its tables, variables, errors, limits, metrics and routes. */
const DECLARATIONS = [
  'shared/tables.ts',
  'shared/env.ts',
  'shared/errors.ts',
  'shared/limits.ts',
  'shared/metrics.ts',
  'shared/routes.ts',
];

/** The files of the product that both the dashboard and the OpenAPI document import. */
const SHARED_WITH_CLIENTS = ['shared/errors.ts', 'shared/limits.ts', 'shared/login/login-error.ts'];

const REACT = ['@mantine/*', '@tabler/icons-react', '@tanstack/*', 'react', 'react-dom'];

/** A folder of tests, which may use any package. */
const tests = (path: string, what: string, imports: readonly string[]): Layer => ({
  path,
  what,
  imports,
  packages: ['*'],
});

/**
 * The layers, from top to bottom. A file may import files of its own row (except if `isApart` is true), and from lower rows what its row
 * names. Nothing imports upwards. Neither files nor folders import each other in circles.
 */
export const LAYERS: readonly Layer[] = [
  tests('test/contract', 'Tests of the public API', [
    'test/support',
    'test/shared/upload-form/captured.ts',
    'local-aws',
    'functions',
    'shared',
  ]),
  tests('test/service', 'Tests of the whole service: faults, incidents, grants, time limits', [
    'test/support',
    'infra',
    'local-aws',
    'shared',
  ]),
  tests('test/docs', 'Tests of what the documents say', [
    'test/support',
    'docs',
    'bench',
    'smoke',
    'admin',
    'infra',
    'local-aws',
    'openapi',
    'shared',
  ]),
  tests('test/examples', 'Tests of the examples', ['test/support']),
  tests('test/clients', 'Tests of the clients', ['test/support', 'clients']),
  tests('test/dashboard', 'Tests of the dashboard, most of them in a browser', [
    'test/support',
    'dashboard',
    'clients',
  ]),
  tests('test/admin', "Tests of the operator's command", ['test/support', 'admin', 'local-aws', 'shared']),
  tests('test/smoke', 'Tests of the checks of a running service', ['test/support']),
  tests('test/infra', 'Tests of stacks and edge functions', ['test/support', 'infra', 'local-aws', 'shared']),
  tests('test/layers', 'Tests of the check of this table', ['layers']),
  tests('test/bench', 'Tests of the measurements', ['bench']),
  tests('test/functions', 'Tests of parts of the streaming server', ['functions', 'shared']),
  tests('test/shared', 'Tests of the domain and the stores', [
    'test/support',
    'docs/architecture',
    'local-aws',
    'shared',
  ]),
  tests('test/local-aws', 'Tests of the local AWS; of the product they need only its tables', [
    'test/support',
    'local-aws',
    'shared/tables.ts',
  ]),
  {
    path: 'docs',
    what: 'The code that makes the tables, figures and pictures of the documents',
    imports: ['bench', 'test/support', 'admin', 'infra', 'layers', 'openapi', 'shared'],
    packages: ['node:*', 'playwright-core'],
  },
  {
    path: 'bench',
    what: 'Measurements',
    imports: ['test/support', 'infra/local', 'infra/bundle', 'local-aws', 'shared'],
    packages: ['@aws-sdk/client-dynamodb', 'esbuild', 'node:*'],
  },
  tests('test/support', 'Helpers that tests share; they import no test', [
    '*',
    'infra',
    'local-aws',
    'openapi',
    'shared',
  ]),
  { path: '*', what: 'Configuration of the tests', imports: [], packages: ['vitest'] },
  {
    path: 'admin',
    what: "The operator's command",
    imports: ['infra/deployment', 'infra/settings', 'infra/stages', 'shared'],
    packages: ['@aws-sdk/client-cloudwatch-logs', '@aws-sdk/client-sts', 'node:*'],
  },
  {
    path: 'smoke',
    what: 'Checks of a running service, through its public API',
    imports: ['infra/deployment', 'infra/settings', 'infra/stages', 'shared/answers.ts'],
    packages: ['node:*'],
  },
  {
    path: 'dashboard',
    what: 'The web app',
    imports: ['clients/typescript', ...SHARED_WITH_CLIENTS],
    packages: [...REACT, 'swagger-ui-dist', 'vite', '@vitejs/plugin-react'],
  },
  {
    path: 'clients/cli',
    what: 'The command `file-hosting`, a package of its own',
    imports: ['clients/typescript'],
    packages: ['cli-progress', 'commander', 'node:*'],
  },
  {
    path: 'clients/typescript',
    what: 'The client for TypeScript and JavaScript, a package of its own',
    imports: [],
    packages: [],
  },
  {
    path: 'infra/local',
    what: '`npm start`: synthesizes the templates and hands them to the local AWS',
    imports: ['local-aws', 'infra/stages'],
    packages: ['node:*'],
  },
  { path: 'local-aws', what: 'AWS on one machine', imports: [], packages: ['*'] },
  {
    path: 'infra/deployment',
    what: '`npm run deploy`, and the comparison of a stage with what is deployed',
    imports: ['infra/settings', 'infra/stages', 'shared/aws/parameters.ts'],
    packages: ['node:*'],
  },
  {
    path: 'infra',
    what: 'The CDK app: stacks and constructs',
    imports: [...DECLARATIONS, 'openapi/document.ts', 'openapi/for-programs.ts'],
    packages: ['aws-cdk-lib', 'cdk-nag', 'cloudfront', 'constructs', 'esbuild', 'node:*', 'vite'],
  },
  {
    path: 'openapi',
    what: 'The OpenAPI document of the API',
    imports: [...SHARED_WITH_CLIENTS, 'shared/answers.ts', 'shared/request-rules.ts', 'shared/routes.ts'],
    packages: [],
  },
  { path: 'layers', what: 'This table, and its check', imports: [], packages: ['node:*', 'vite'] },
  {
    path: 'functions/upload-stream',
    what: 'The Web Function for large uploads',
    // This server answers unknown paths with the handler of unknown routes.
    imports: ['functions/unknown-route.ts', 'shared/stack', 'shared/aws', 'shared/http', 'shared/accounts', 'shared/*'],
    packages: ['aws-lambda', 'node:*'],
  },
  {
    path: 'functions/canary',
    what: 'The canary, which is a client of the service',
    imports: ['shared/aws', 'shared/*'],
    packages: [],
  },
  {
    path: 'functions',
    what: 'One file for each Lambda function',
    imports: [
      'shared/stack',
      'shared/aws',
      'shared/http',
      'shared/accounts',
      'shared/api-keys',
      'shared/files',
      'shared/login',
      'shared/sessions',
      'shared/*',
    ],
    packages: ['aws-lambda', 'node:*'],
    isApart: true,
  },
  {
    path: 'shared/stack',
    what: 'The middleware of every route, and the receiving of a form',
    imports: [
      'shared/aws',
      'shared/http',
      'shared/accounts',
      'shared/api-keys',
      'shared/files',
      'shared/login',
      'shared/rate-limit',
      'shared/sessions',
      'shared/upload-form',
      'shared/*',
    ],
    packages: ['@middy/core', 'aws-lambda', 'node:*'],
  },
  {
    path: 'shared/aws',
    what: 'The stores: all calls of the service to AWS',
    imports: [
      'shared/accounts',
      'shared/administration',
      'shared/api-keys',
      'shared/files',
      'shared/login',
      'shared/rate-limit',
      'shared/sessions',
      'shared/*',
    ],
    packages: ['@aws-sdk/*', '@smithy/node-http-handler', '@smithy/types', 'node:*'],
  },
  {
    path: 'shared/administration',
    what: 'Domain: what an operator does',
    imports: ['shared/api-keys', 'shared/files', 'shared/sessions', 'shared/*'],
    packages: [],
  },
  {
    path: 'shared/login',
    what: 'Domain: the Google login',
    imports: ['shared/accounts', 'shared/http', 'shared/sessions', 'shared/*'],
    packages: ['arctic', 'jose', 'node:*'],
  },
  { path: 'shared/http', what: 'Requests and responses', imports: ['shared/*'], packages: ['aws-lambda', 'node:*'] },
  {
    path: 'shared/files',
    what: 'Domain: files, uploads, lists, the sweeper',
    imports: ['shared/accounts', 'shared/*'],
    packages: ['node:*'],
  },
  { path: 'shared/api-keys', what: 'Domain: API keys', imports: ['shared/*'], packages: ['node:*'] },
  { path: 'shared/sessions', what: 'Domain: sessions', imports: ['shared/*'], packages: ['node:*'] },
  { path: 'shared/rate-limit', what: 'Domain: the rate limiter', imports: ['shared/*'], packages: ['node:*'] },
  { path: 'shared/upload-form', what: 'Domain: the multipart parser', imports: ['shared/*'], packages: ['node:*'] },
  { path: 'shared/accounts', what: 'Domain: accounts and what they may store', imports: ['shared/*'], packages: [] },
  {
    path: 'shared/*',
    what: 'Files that every layer may use: routes, errors, limits, environment variables, log, metrics, time limit',
    imports: [],
    packages: ['aws-lambda', 'node:*'],
  },
];
