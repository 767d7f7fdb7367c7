/** Types of the API, its routes, errors, limits and rules of requests: what services, browsers, stacks and documents agree on. */
const CONTRACT = '^shared/contract/';

/** A folder for each subject of the service. */
const DOMAIN = '^shared/(accounts|administration|api-keys|files|login|rate-limit|sessions|upload-form)/';

/** What the stacks need besides the contract: names of tables, parameters, variables and metrics. */
const DECLARATIONS = '^shared/(env|metrics|route|tables|aws/parameters)\\.ts$';

/** The declarations of routes, each beside its handler. */
const ROUTES = '^functions/(routes|.*\\.route)\\.ts$';

/** A file of the project, not a package. */
const OURS = { dependencyTypes: ['local'] };

/**
 * The direction of imports, of types as well. `$1` stands for the group in parentheses of the path above it.
 *
 * @type {import('dependency-cruiser').IForbiddenRuleType[]}
 */
const RULES = [
  {
    name: 'no-circle-of-files',
    comment: 'Files in a circle can only be understood, tested and moved together.',
    from: {},
    to: { circular: true },
  },
  {
    name: 'no-circle-of-folders',
    comment: 'Folders in a circle are one folder with two names.',
    scope: 'folder',
    from: {},
    to: { circular: true },
  },
  {
    name: 'no-orphan',
    comment:
      'A file that imports nothing, and that nothing imports, is dead, except if something loads it by its name.',
    from: {
      orphan: true,
      pathNot: ['\\.d\\.ts$', '^[^/]+$', '^infra/edge/', '^examples/', '^test/support/own-ports\\.ts$'],
    },
    to: {},
  },
  {
    name: 'not-to-tests',
    comment: 'What runs for users must run without tests, measurements and documents.',
    from: { pathNot: ['^(test|bench|docs)/', '^[^/]+$'] },
    to: { path: '^(test|bench|docs)/' },
  },
  {
    name: 'not-to-a-test-file',
    comment: 'An imported test would run twice. Move what is shared into test/support.',
    from: {},
    to: { path: '\\.(test|soak)\\.ts$' },
  },
  {
    name: 'tests-apart',
    comment: 'The tests of a part change with this part alone. Move what is shared into test/support.',
    from: { path: '^test/([^/]+)/' },
    to: { path: '^test/', pathNot: ['^test/($1|support)/', '^test/shared/upload-form/(captured|read-form)\\.ts$'] },
  },
  {
    name: 'alone',
    comment:
      'Everything may use `shared`, so it uses nothing above itself. The local AWS knows nothing of the product. People copy the examples.',
    from: { path: '^(shared|local-aws|examples)/' },
    to: { ...OURS, pathNot: '^$1/' },
  },
  {
    name: 'contract-alone',
    comment: 'The browser loads the contract as well, and so it needs neither Node nor a package.',
    from: { path: CONTRACT },
    to: { pathNot: CONTRACT },
  },
  {
    name: 'client-without-packages',
    comment: 'The client runs on every platform that has fetch. It brings nothing that its users must update.',
    from: { path: '^clients/typescript/' },
    to: { pathNot: '^clients/typescript/' },
  },
  {
    name: 'sdk-in-stores',
    comment: 'Only the stores know AWS. So the rest can be read and tested without it, and one place knows its errors.',
    from: {
      path: '^(functions|shared|openapi|admin|smoke|infra|dashboard|clients)/',
      pathNot: ['^shared/aws/', '^operator/admin/logs/', '^functions/canary/check-deployment\\.ts$'],
    },
    to: { path: 'node_modules/@(aws-sdk|smithy)/' },
  },
  {
    name: 'domain-without-aws',
    comment: 'The domain says what the service does. It is given its stores.',
    from: { path: DOMAIN },
    to: { path: '^shared/(aws|stack)/' },
  },
  {
    name: 'domain-without-http',
    comment: 'Requests and answers are the business of the functions. Only the login is made of redirects and cookies.',
    from: { path: DOMAIN, pathNot: '^shared/login/' },
    to: { path: '^shared/http/' },
  },
  {
    name: 'stores-without-http',
    comment: 'A store takes and gives values of the domain, whoever asks.',
    from: { path: '^shared/aws/' },
    to: { path: '^shared/(http|stack|upload-form)/' },
  },
  {
    name: 'http-without-domain',
    comment: 'Reading a request or a form is the same for every subject.',
    from: { path: '^shared/(http|upload-form)/' },
    to: { path: '^shared/[^/]+/', pathNot: ['^shared/$1/', CONTRACT] },
  },
  {
    name: 'tools-at-the-bottom',
    comment: 'Every folder may use the files directly in `shared`, so they use none of its folders but the contract.',
    from: { path: '^shared/[^/]+$' },
    to: { path: '^shared/[^/]+/', pathNot: CONTRACT },
  },
  {
    name: 'functions-on-shared',
    comment: 'A bundle holds what a function imports, and nothing else of the project.',
    from: { path: '^functions/' },
    to: { ...OURS, pathNot: '^(functions|shared)/' },
  },
  {
    name: 'functions-apart',
    comment:
      'Functions are deployed each by itself. Only the server of streams answers unknown paths with the handler of the other function.',
    from: { path: '^functions/', pathNot: '^functions/(canary|upload-stream)/' },
    to: { path: '^functions/', pathNot: ROUTES },
  },
  {
    name: 'servers-apart',
    comment: 'These two folders are one function each.',
    from: { path: '^functions/(canary|upload-stream)/' },
    to: { path: '^functions/', pathNot: ['^functions/$1/', ROUTES, '^functions/unknown-route\\.ts$'] },
  },
  {
    name: 'declarations-load-nothing',
    comment:
      'The stacks and the documents read the declaration of a route without its handler, its stores and their variables.',
    from: { path: ROUTES },
    to: { ...OURS, pathNot: [ROUTES, '^shared/route\\.ts$', CONTRACT] },
  },
  {
    name: 'every-route-is-listed',
    comment: 'The gateway, the roles and the documents have the routes that functions/routes.ts lists.',
    from: { path: '^functions/routes\\.ts$' },
    to: { path: '\\.route\\.ts$', reachable: false },
  },
  {
    name: 'released-packages',
    comment: '`dependencies` in package.json lists what is deployed: its licences and vulnerabilities are checked.',
    from: { path: '^(functions|shared)/' },
    to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'infra-on-declarations',
    comment:
      'From the code of the service the stacks need only the declarations of routes, and what both must agree on.',
    from: { path: '^infra/', pathNot: '^infra/local/' },
    to: { ...OURS, pathNot: ['^infra/', ROUTES, CONTRACT, DECLARATIONS] },
  },
  {
    name: 'commands-on-settings',
    comment: 'A command of the operator needs the settings of a stage, not its stacks.',
    from: { path: '^operator/' },
    to: { ...OURS, pathNot: ['^(operator|shared|infra/(settings|stages))/', ROUTES] },
  },
  {
    name: 'smoke-through-the-door',
    comment: 'The smoke test sees a running service as its clients do.',
    from: { path: '^operator/smoke/' },
    to: { path: '^(shared|operator/admin)/', pathNot: [CONTRACT, '^shared/route\\.ts$'] },
  },
  {
    name: 'dashboard-on-client',
    comment: 'The dashboard does nothing that a program could not do through the public API.',
    from: { path: '^dashboard/' },
    to: { ...OURS, pathNot: ['^(dashboard|clients/typescript)/', CONTRACT] },
  },
  {
    name: 'command-on-client',
    comment: 'The command `file-hosting` is published as a package of its own.',
    from: { path: '^clients/cli/' },
    to: { ...OURS, pathNot: '^clients/' },
  },
];

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: RULES.map((rule) => ({ severity: 'error', ...rule })),
  options: {
    // This parser sees imports of types without `tsPreCompilationDeps`, which would ask for a TypeScript below 7.
    parser: 'swc',
    doNotFollow: 'node_modules',
    exclude: ['^\\.', '^(cdk\\.out|coverage)/', '^(clients/[^/]+/)?dist/'],
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      mainFields: ['module', 'main', 'types'],
    },
  },
};
