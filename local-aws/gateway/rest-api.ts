import { groupOfArn } from '../logs/log-groups.ts';
import type { Deployment, Properties, Resource } from '../template/deployment.ts';
import { readProperties } from '../template/read-properties.ts';

/** One REST API of the template, with its stage. */
export interface RestApi {
  readonly id: string;
  readonly domainName: string;
  readonly stage: string;
  readonly deploymentId: string;
  readonly stageVariables: Readonly<Record<string, string>>;
  readonly root: ApiResource;
  /** Media types whose bodies are binary, such as `image/*`. */
  readonly binaryMediaTypes: readonly string[];
  readonly responses: ReadonlyMap<ConfiguredType, ConfiguredResponse>;
  /** The ids of the API keys that the stage accepts, by value. */
  readonly apiKeys: ReadonlyMap<string, string>;
  /** The methods that admit no request, as `<method> <path>`. */
  readonly stopped: ReadonlySet<string>;
  /** Where requests are logged; when it is absent, they are not. */
  readonly accessLog?: AccessLog;
}

/** Where a stage logs its requests, and how. */
export interface AccessLog {
  readonly group: string;
  readonly format: string;
}

/** One path of the API. */
export interface ApiResource {
  readonly id: string;
  /** The whole path, such as `/files/{id}`. */
  readonly path: string;
  /** The last part of the path; empty for the root. */
  readonly part: string;
  readonly children: readonly ApiResource[];
  /** The functions that answer, by HTTP method or `ANY`. */
  readonly methods: ReadonlyMap<string, Integration>;
}

/** The function that answers a method. */
export interface Integration {
  readonly functionArn: string;
  /** Whether requests need an API key that the stage accepts. */
  readonly needsApiKey: boolean;
  readonly timeoutMilliseconds: number;
}

/** The types of the gateway's own answers that the local gateway implements. */
const RESPONSE_TYPES = [
  'API_CONFIGURATION_ERROR',
  'DEFAULT_4XX',
  'DEFAULT_5XX',
  'INTEGRATION_FAILURE',
  'INTEGRATION_TIMEOUT',
  'INVALID_API_KEY',
  'INVALID_SIGNATURE',
  'MISSING_AUTHENTICATION_TOKEN',
  'THROTTLED',
] as const;

export type ResponseType = (typeof RESPONSE_TYPES)[number];

/**
 * The other types that AWS has. What a template configures for them has no effect here. Source: API Gateway Developer Guide, "Gateway
 * response types".
 */
const WITHOUT_EFFECT = [
  // This gateway never sends these: it has no authorizers, request validators, request models or quotas, and no firewall.
  'ACCESS_DENIED',
  'AUTHORIZER_CONFIGURATION_ERROR',
  'AUTHORIZER_FAILURE',
  'BAD_REQUEST_BODY',
  'BAD_REQUEST_PARAMETERS',
  'EXPIRED_TOKEN',
  'QUOTA_EXCEEDED',
  'RESOURCE_NOT_FOUND',
  'UNAUTHORIZED',
  'UNSUPPORTED_MEDIA_TYPE',
  'WAF_FILTERED',
  // The gateway sends its own answer (TOO_LARGE in handle-request.ts). On AWS, too, a template does not change it.
  'REQUEST_TOO_LARGE',
] as const;

/** An answer of the gateway, as the template configures it. */
export interface ConfiguredResponse {
  /** The status of the answer; by default the gateway's own. */
  readonly status?: number;
  /** The headers by name, each as a mapping, such as `'text'` or `context.requestId`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly template?: { readonly contentType: string; readonly text: string };
}

type ConfiguredType = ResponseType | (typeof WITHOUT_EFFECT)[number];

/** Properties that describe the API, or choose the type of its endpoint: the local gateway has only one type. */
const NO_EFFECT_API = ['Description', 'EndpointConfiguration', 'Name', 'Tags'];

/** Properties that describe the stage, or turn on traces, which are not emulated. */
const NO_EFFECT_STAGE = ['Description', 'Tags', 'TracingEnabled'];

/** @throws Error naming a part of the template that this gateway does not implement. */
export function readRestApis(deployment: Deployment): RestApi[] {
  return deployment.resources('AWS::ApiGateway::RestApi').map((api) => readRestApi(api, deployment));
}

function readRestApi(api: Resource, deployment: Deployment): RestApi {
  const ofApi = (type: string) =>
    deployment
      .resources(type)
      .map((resource) => ({ resource, properties: resource.properties() }))
      .filter(({ properties }) => properties.RestApiId === api.ref);
  const [stage, ...others] = ofApi('AWS::ApiGateway::Stage');
  if (!stage || others.length > 0) throw new Error(`${api.logicalId} must have exactly one stage`);
  const parts = { resources: ofApi('AWS::ApiGateway::Resource'), methods: ofApi('AWS::ApiGateway::Method') };
  const settings = readStage(stage.resource, stage.properties);
  const root = { id: api.attribute('RootResourceId'), path: '/', part: '' };
  return {
    id: api.ref,
    domainName: `${api.ref}.execute-api.${deployment.account.region}.amazonaws.com`,
    ...settings,
    root: assemble(root, parts),
    binaryMediaTypes: readProperties(
      api.logicalId,
      api.properties(),
      (take) => take<string[]>('BinaryMediaTypes', []),
      NO_EFFECT_API,
    ),
    responses: new Map(
      ofApi('AWS::ApiGateway::GatewayResponse').map(({ resource, properties }) =>
        readGatewayResponse(resource.logicalId, properties),
      ),
    ),
    apiKeys: readApiKeys(deployment, { apiId: api.ref, stage: settings.stage }),
  };
}

function readStage(resource: Resource, properties: Properties) {
  return readProperties(
    resource.logicalId,
    properties,
    (take) => {
      take('RestApiId');
      return {
        stage: take<string>('StageName'),
        deploymentId: take<string>('DeploymentId'),
        stageVariables: take<Record<string, string>>('Variables', {}),
        stopped: readStopped(take<MethodSetting[]>('MethodSettings', [])),
        ...readAccessLog(take<{ DestinationArn?: string; Format?: string }>('AccessLogSetting', {})),
      };
    },
    NO_EFFECT_STAGE,
  );
}

function readAccessLog({ DestinationArn, Format }: { DestinationArn?: string; Format?: string }) {
  if (DestinationArn === undefined || Format === undefined) return {};
  return { accessLog: { group: groupOfArn(DestinationArn), format: Format } };
}

interface MethodSetting {
  readonly HttpMethod: string;
  /** A slash, and then the path with `~1` in place of each slash. */
  readonly ResourcePath: string;
  readonly ThrottlingRateLimit?: number;
}

/**
 * Finds the methods with a rate of 0. Other rates have no effect: the local gateway does not count the requests of all clients
 * together. Source: CloudFormation, "AWS::ApiGateway::Stage MethodSetting".
 */
function readStopped(settings: readonly MethodSetting[]): ReadonlySet<string> {
  const stopped = settings.filter(({ ThrottlingRateLimit }) => ThrottlingRateLimit === 0);
  return new Set(
    stopped.map(({ HttpMethod, ResourcePath }) => `${HttpMethod} ${ResourcePath.slice(1).replaceAll('~1', '/')}`),
  );
}

interface Part {
  readonly resource: Resource;
  readonly properties: Properties;
}

function assemble(
  self: { readonly id: string; readonly path: string; readonly part: string },
  all: { readonly resources: readonly Part[]; readonly methods: readonly Part[] },
): ApiResource {
  const children = all.resources
    .filter(({ properties }) => properties.ParentId === self.id)
    .map(({ resource, properties }) => {
      const part = readPathPart(resource.logicalId, properties);
      return assemble({ id: resource.ref, path: `${self.path === '/' ? '' : self.path}/${part}`, part }, all);
    });
  const methods = all.methods
    .filter(({ properties }) => properties.ResourceId === self.id)
    .map(({ resource, properties }) => readMethod(resource.logicalId, properties));
  return { ...self, children, methods: new Map(methods) };
}

function readPathPart(logicalId: string, properties: Properties): string {
  return readProperties(logicalId, properties, (take) => {
    take('RestApiId');
    take('ParentId');
    return take<string>('PathPart');
  });
}

function readMethod(logicalId: string, properties: Properties): [method: string, integration: Integration] {
  return readProperties(
    logicalId,
    properties,
    (take) => {
      const authorization = take<string>('AuthorizationType', 'NONE');
      if (authorization !== 'NONE')
        throw new Error(`${logicalId}: the local gateway does not support ${authorization}`);
      take('RestApiId');
      take('ResourceId');
      const needsApiKey = take('ApiKeyRequired', false);
      return [take<string>('HttpMethod'), readIntegration(logicalId, take('Integration'), needsApiKey)];
    },
    // These document a method. A proxy integration answers what the function says.
    ['MethodResponses', 'OperationName'],
  );
}

/** How long the gateway waits for a function, unless the template says less. Source: API Gateway quotas. */
const TIMEOUT_MILLISECONDS = 29_000;

/** @throws Error for anything but a Lambda proxy integration. */
function readIntegration(logicalId: string, properties: Properties, needsApiKey: boolean): Integration {
  return readProperties(`${logicalId}.Integration`, properties, (take) => {
    const type = take<string>('Type');
    const method = take<string>('IntegrationHttpMethod');
    if (type !== 'AWS_PROXY' || method !== 'POST') {
      throw new Error(`${logicalId}: the local gateway does not support ${type} integrations by ${method}`);
    }
    const functionArn = /:lambda:path\/2015-03-31\/functions\/(.+)\/invocations$/.exec(take<string>('Uri'))?.[1];
    if (functionArn === undefined) throw new Error(`${logicalId}: its integration is not a Lambda function`);
    return { functionArn, needsApiKey, timeoutMilliseconds: Number(take('TimeoutInMillis', TIMEOUT_MILLISECONDS)) };
  });
}

const HEADER = 'gatewayresponse.header.';

/** @throws Error for an unknown type, a parameter that is not a header, or more than one template. */
function readGatewayResponse(
  logicalId: string,
  properties: Properties,
): [type: ConfiguredType, response: ConfiguredResponse] {
  return readProperties(logicalId, properties, (take) => {
    take('RestApiId');
    const type = take<ConfiguredType>('ResponseType');
    if (![...RESPONSE_TYPES, ...WITHOUT_EFFECT].includes(type))
      throw new Error(`${logicalId}: the local gateway does not know ${type}`);
    const status = take<string>('StatusCode', '');
    const [template, ...others] = Object.entries(take<Record<string, string>>('ResponseTemplates', {}));
    if (others.length > 0) throw new Error(`${logicalId}: the local gateway answers in one content type`);
    const headers = Object.entries(take<Record<string, string>>('ResponseParameters', {})).map(([name, mapping]) => {
      if (!name.startsWith(HEADER)) throw new Error(`${logicalId}: the local gateway does not map ${name}`);
      return [name.slice(HEADER.length), mapping] as const;
    });
    const response: ConfiguredResponse = {
      headers: Object.fromEntries(headers),
      ...(status !== '' && { status: Number(status) }),
      ...(template && { template: { contentType: template[0], text: template[1] } }),
    };
    return [type, response];
  });
}

interface ApiStage {
  readonly apiId: string;
  readonly stage: string;
}

/**
 * The ids of the API keys that a stage accepts, by value: those that are enabled and in a usage plan of the stage.
 * Source: API Gateway Developer Guide, "Usage plans and API keys for REST APIs".
 * @throws Error for a plan with limits, because the local gateway does not count requests by key.
 */
function readApiKeys(deployment: Deployment, ofStage: ApiStage): ReadonlyMap<string, string> {
  const plans = deployment
    .resources('AWS::ApiGateway::UsagePlan')
    .filter((plan) => readStages(plan.logicalId, plan.properties()).some((stage) => isSame(stage, ofStage)));
  const keyIds = deployment
    .resources('AWS::ApiGateway::UsagePlanKey')
    .map((link) => readLink(link.logicalId, link.properties()))
    .filter(({ planId }) => plans.some((plan) => plan.ref === planId))
    .map(({ keyId }) => keyId);
  return new Map(
    deployment
      .resources('AWS::ApiGateway::ApiKey')
      .filter(({ ref }) => keyIds.includes(ref))
      .map((key) => [readValue(key.logicalId, key.properties()), key.ref] as const)
      .filter((entry): entry is readonly [string, string] => entry[0] !== undefined),
  );
}

const isSame = (a: ApiStage, b: ApiStage) => a.apiId === b.apiId && a.stage === b.stage;

function readStages(logicalId: string, properties: Properties): ApiStage[] {
  const stages = readProperties(logicalId, properties, (take) => take<Properties[]>('ApiStages', []), [
    'Description',
    'Tags',
    'UsagePlanName',
  ]);
  return stages.map((stage) =>
    readProperties(`${logicalId}.ApiStages`, stage, (take) => {
      refuseUnlessEmpty(logicalId, take('Throttle', {}));
      return { apiId: take('ApiId'), stage: take('Stage') };
    }),
  );
}

function refuseUnlessEmpty(logicalId: string, limits: Properties): void {
  if (Object.keys(limits).length > 0) throw new Error(`${logicalId}: the local gateway counts no requests by key`);
}

function readLink(logicalId: string, properties: Properties): { keyId: string; planId: string } {
  return readProperties(logicalId, properties, (take) => {
    if (take('KeyType') !== 'API_KEY') throw new Error(`${logicalId}: a key of a usage plan is an API_KEY`);
    return { keyId: take('KeyId'), planId: take('UsagePlanId') };
  });
}

/** @returns undefined for a key that is not enabled. Keys are disabled by default. */
function readValue(logicalId: string, properties: Properties): string | undefined {
  return readProperties(
    logicalId,
    properties,
    (take) => {
      const value = take<string>('Value');
      // Source: API Gateway API Reference, CreateApiKey. The sources differ on the allowed characters; all of them allow these.
      if (!/^[0-9A-Za-z-]{20,128}$/.test(value)) throw new Error(`${logicalId}: its value is not an API key`);
      return take('Enabled', false) ? value : undefined;
    },
    ['Description', 'Name', 'Tags'],
  );
}
