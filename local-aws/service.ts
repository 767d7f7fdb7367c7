import { randomUUID } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AwsFront, startAwsFront } from './aws-front/aws-front.ts';
import type { Principal } from './aws-front/principals.ts';
import { deployFiles } from './buckets/deploy-files.ts';
import { readBuckets } from './buckets/read-buckets.ts';
import { readAccessLog } from './cloudfront/access-log.ts';
import type { AnsweredRequest, Exchange } from './cloudfront/serve-request.ts';
import { distributionOfOutput, startEdge } from './cloudfront/start-distribution.ts';
import { type Compute, createCompute } from './compute.ts';
import { createTables } from './dynamodb/create-tables.ts';
import type { AsyncInvoker } from './events/async-invoker.ts';
import type { EventBus } from './events/event-bus.ts';
import { readRestApis } from './gateway/rest-api.ts';
import { choosePorts } from './host/ports.ts';
import type { IdentityProvider } from './identity-provider/start-identity-provider.ts';
import type { InvocationResult, LogListener } from './lambda/invocation.ts';
import type { LambdaService } from './lambda/lambda-service.ts';
import { isLoginClientSecret, startLoginProvider } from './login-provider.ts';
import { LogGroups } from './logs/log-groups.ts';
import { operatorPrincipal, writeOperatorFile } from './operator.ts';
import { type Origins, startOrigins } from './origins.ts';
import { readPrincipals } from './read-principals.ts';
import { openSecrets, readParameters, secretName } from './read-secrets.ts';
import { loadAssembly, type Template } from './template/assembly.ts';
import { type Resource, resolveDeployment } from './template/deployment.ts';

export type { Fault, FaultHandle, FaultSubject } from './aws-front/faults.ts';
export type { Exchange } from './cloudfront/serve-request.ts';
export type { Template, TemplateResource } from './template/assembly.ts';

export interface ServiceOptions {
  /** The directory that `cdk synth` wrote. */
  readonly assembly: string;
  /** The directory of the data, which stays over restarts. Only one service at a time may use it. */
  readonly dataDir: string;
  /** The port of the app's distribution; 0 takes free ports for all servers. */
  readonly port: number;
  /** The address of the database's engine. Services with different accounts may share it. */
  readonly dynamoDbEndpoint: string;
  /** The id of the AWS account, of twelve digits. */
  readonly accountId?: string;
  /** Changes the templates in memory before they are used. */
  readonly edit?: (templates: Record<string, Template>) => void;
  /** Values of variables of functions, in place of the template's. Variables that the template does not give are ignored. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly onLog?: LogListener;
  readonly onRequest?: (request: AnsweredRequest) => void;
  /** Called with each whole request to the app's distribution and its answer, so that tests can check both. */
  readonly onExchange?: (exchange: Exchange) => void;
  /** Whether the clock runs schedules. If not, {@link LocalService.runSchedules} does. */
  readonly isClockRunning?: boolean;
  /** The delays between the tries of a failed event. */
  readonly retryDelaysMs?: readonly number[];
  /** The clock of CloudFront, for cache lifetimes and for the signatures of its requests to buckets. */
  readonly clock?: () => Date;
}

export interface LocalService {
  readonly urls: {
    readonly root_url: string;
    readonly base_url: string;
    readonly cdn_url: string;
    readonly dashboard_url: string;
    readonly identity_provider_url: string;
  };
  /** The address of the gateway itself, past CloudFront. It ends in a slash. */
  readonly gatewayUrl: string;
  readonly front: AwsFront;
  readonly lambda: LambdaService;
  readonly bus: EventBus;
  /** Asynchronous invocations, and the events that failed for good. */
  readonly invoker: AsyncInvoker;
  readonly logGroups: LogGroups;
  /** Runs a function by its label, as the operator may. */
  invoke(label: string, event: unknown): Promise<InvocationResult>;
  /** Runs every schedule once, and waits for what it started. */
  runSchedules(): Promise<void>;
  /** Ends the processes of the Web Functions, as AWS may at any time. */
  stopWebFunctions(): Promise<void>;
  close(): Promise<void>;
}

const REGION = 'us-east-1';
const ACCOUNT_ID = '000000000000';

/**
 * Starts the whole service on this machine, made of its synthesized templates alone. What the templates must have is in
 * local-aws/README.md.
 * @throws Error naming a part of the templates that the local AWS does not implement, or a port in use.
 */
export async function startService(options: ServiceOptions): Promise<LocalService> {
  const started: Closable[] = [];
  const close = async () => {
    for (const part of started.splice(0).reverse()) await part.close();
  };
  try {
    return { ...(await start(options, started)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** @param started  collects what has to be closed, as soon as it exists. */
async function start(options: ServiceOptions, started: Closable[]): Promise<Omit<LocalService, 'close'>> {
  const opened = await openDeployment(options);
  const { logGroups } = opened;
  const groupsOf = new Map<string, readonly string[]>();
  const onLog: LogListener = (entry) => {
    for (const group of groupsOf.get(entry.function) ?? []) logGroups.append(group, entry.line);
    options.onLog?.(entry);
  };
  const { deployment, ports, buckets, apis, appUrl, secrets, parameters } = opened;
  const provider = { deployment, apis, appUrl, port: ports.identityProvider, secrets, parameters };
  const identityProvider = await startLoginProvider(provider);
  started.push(identityProvider);
  const compute = createCompute({
    deployment,
    buckets,
    awsEndpoint: `http://127.0.0.1:${ports.aws}`,
    dataDir: options.dataDir,
    environment: options.environment ?? {},
    onLog,
    isClockRunning: options.isClockRunning ?? false,
    retryDelaysMs: options.retryDelaysMs,
  });
  started.push(compute);
  for (const { label, logGroup } of compute.functions) groupsOf.set(label, logGroup === undefined ? [] : [logGroup]);
  // Lambda writes a line of a Web Function to the second of these groups, and copies it to the first one.
  for (const { label, logGroup } of compute.webFunctions) {
    groupsOf.set(label, logGroup === undefined ? [] : [logGroup, `${logGroup}.local`]);
  }
  const operator = operatorPrincipal();
  const front = await startFront(options, opened, { compute, operator });
  started.push(front);
  // In this order, because a start refuses objects without tables as a lost database.
  await createTables(deployment, options.dynamoDbEndpoint);
  await deployFiles(deployment, front.endpoint);
  const onAccess = (group: string, line: string) => logGroups.append(group, line);
  const origins = await startOrigins({ deployment, apis, buckets, bucketPort: ports.aws, compute, onLog, onAccess });
  started.push(origins);
  await startEdges(options, opened, origins, started);
  started.push(await writeOperatorFile(options.dataDir, { operator, endpoint: front.endpoint, region: REGION }));
  compute.invoker.resume();
  return toLocalService(opened, { identityProvider, compute, front, origins });
}

function toLocalService(
  { deployment, appUrl, logGroups }: Opened,
  parts: {
    readonly identityProvider: IdentityProvider;
    readonly compute: Compute;
    readonly front: AwsFront;
    readonly origins: Origins;
  },
): Omit<LocalService, 'close'> {
  const { identityProvider, front, origins } = parts;
  const { lambda, bus, invoker } = parts.compute;
  return {
    urls: {
      root_url: appUrl,
      base_url: deployment.output('BaseUrl'),
      cdn_url: deployment.output('CdnUrl'),
      dashboard_url: deployment.output('DashboardUrl'),
      identity_provider_url: identityProvider.issuer,
    },
    gatewayUrl: deployment.output('GatewayUrl'),
    front,
    lambda,
    bus,
    invoker,
    logGroups,
    invoke: (label, event) => lambda.invoke({ functionArn: lambda.find(label).arn, payload: JSON.stringify(event) }),
    async runSchedules() {
      bus.runSchedules();
      await invoker.idle();
    },
    stopWebFunctions: origins.stopWebFunctions,
  };
}

interface Closable {
  close(): unknown;
}

type Opened = Awaited<ReturnType<typeof openDeployment>>;

/**
 * Opens the deployment and chooses the ports of its servers. The secret of the login provider and the addresses of the
 * gateways are filled in later.
 */
async function openDeployment(options: ServiceOptions) {
  const { dataDir, accountId = ACCOUNT_ID } = options;
  const assembly = await loadAssembly(options.assembly, options.edit);
  await separateFromProject(options.assembly);
  const addresses = new Map<string, string>();
  const deployment = resolveDeployment({
    assembly,
    account: { region: REGION, accountId },
    addresses,
    secretValue: (id) => secrets[secretName(id)] ?? noSecret(id),
  });
  const secrets = await openSecrets(deployment, dataDir, isLoginClientSecret);
  const ports = await choosePorts(options.port, dataDir);
  const app = distributionOfOutput(deployment, 'DashboardUrl');
  const cdn = distributionOfOutput(deployment, 'CdnUrl');
  const buckets = readBuckets(deployment);
  const logGroups = new LogGroups(deployment.resources('AWS::Logs::LogGroup').map(({ ref }) => ref));
  addresses.set(app.attribute('DomainName'), `localhost:${ports.app}`);
  addresses.set(cdn.attribute('DomainName'), `127.0.0.1:${ports.cdn}`);
  for (const { regionalDomainName } of buckets) addresses.set(regionalDomainName, `127.0.0.1:${ports.aws}`);
  const appUrl = `http://localhost:${ports.app}`;
  return {
    deployment,
    addresses,
    secrets,
    parameters: readParameters(deployment),
    ports,
    app,
    cdn,
    buckets,
    apis: readRestApis(deployment),
    appUrl,
    logGroups,
  };
}

/**
 * Writes an empty `package.json` into the assembly. Without it Node would apply the `package.json` of the project to the functions; on
 * AWS they have none. A rename makes the file appear whole, because the functions of another service may be reading it.
 */
async function separateFromProject(assembly: string): Promise<void> {
  const draft = join(assembly, `package-${randomUUID()}.json`);
  await writeFile(draft, '{}');
  await rename(draft, join(assembly, 'package.json'));
}

function startFront(
  { dataDir, dynamoDbEndpoint, onLog = () => {} }: ServiceOptions,
  { deployment, buckets, ports, secrets, parameters, logGroups }: Opened,
  { compute, operator }: { readonly compute: Compute; readonly operator: Principal },
): Promise<AwsFront> {
  return startAwsFront({
    ...deployment.account,
    port: ports.aws,
    dataDir,
    principals: [...readPrincipals(deployment, [...compute.functions, ...compute.webFunctions]), operator],
    buckets,
    dynamoDbEndpoint,
    secrets,
    logGroups,
    parameters,
    onObjectCreated: compute.bus.objectCreated,
    onDenied: ({ principal, action, resource }) =>
      onLog({ function: principal, line: `AccessDenied: ${action} on ${resource}` }),
  });
}

/** Starts both distributions in front of the origins. */
async function startEdges(options: ServiceOptions, opened: Opened, origins: Origins, started: Closable[]) {
  const { deployment, addresses, apis, ports, app, cdn } = opened;
  for (const { domainName } of apis) addresses.set(domainName, `127.0.0.1:${origins.addresses.get(domainName)?.port}`);
  const { onRequest = () => {}, onExchange, clock } = options;
  const edge = { deployment, origins: origins.addresses, onRequest, clock };
  const logOf = (distribution: Resource) =>
    readAccessLog(deployment, distribution, (group, line) => opened.logGroups.append(group, line));
  const ofApp = { distribution: app, port: ports.app, onExchange, writeAccessLine: logOf(app) };
  const ofCdn = { distribution: cdn, port: ports.cdn, onExchange: undefined, writeAccessLine: logOf(cdn) };
  started.push(await startEdge({ ...edge, ...ofApp }));
  started.push(await startEdge({ ...edge, ...ofCdn }));
}

function noSecret(id: string): never {
  throw new Error(`there is no secret ${id}`);
}
