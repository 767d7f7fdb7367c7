import type { Deployment, Properties, Resource } from '../template/deployment.ts';
import { readProperties } from '../template/read-properties.ts';
import { readApiKeys } from './api-keys.ts';
import { type ConfiguredResponse, type ResponseType, readGatewayResponse } from './gateway-response-config.ts';
import { type Integration, readIntegration } from './integration.ts';

/** One REST API as the template describes it, deployed to its stage. */
export interface RestApi {
  readonly id: string;
  readonly domainName: string;
  readonly stage: string;
  readonly deploymentId: string;
  readonly stageVariables: Readonly<Record<string, string>>;
  readonly root: ApiResource;
  /** Media types whose bodies are binary, such as `image/*`. */
  readonly binaryMediaTypes: readonly string[];
  readonly responses: ReadonlyMap<ResponseType, ConfiguredResponse>;
  /** The ids of the API keys that the stage takes, by value. */
  readonly apiKeys: ReadonlyMap<string, string>;
}

/** One path of the API. */
export interface ApiResource {
  readonly id: string;
  /** Such as `/files/{id}`. */
  readonly path: string;
  /** The last part of the path; empty for the root. */
  readonly part: string;
  readonly children: readonly ApiResource[];
  /** By HTTP method or `ANY`. */
  readonly methods: ReadonlyMap<string, Integration>;
}

const MEANINGLESS_API = ['Description', 'EndpointConfiguration', 'Name', 'Policy', 'Tags'];
const MEANINGLESS_STAGE = ['AccessLogSetting', 'Description', 'MethodSettings', 'Tags', 'TracingEnabled'];

/** @throws Error naming what the template asks for and this gateway does not do. */
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
      MEANINGLESS_API,
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
      };
    },
    MEANINGLESS_STAGE,
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
      const part = String(properties.PathPart);
      return assemble({ id: resource.ref, path: `${self.path === '/' ? '' : self.path}/${part}`, part }, all);
    });
  const methods = all.methods
    .filter(({ properties }) => properties.ResourceId === self.id)
    .map(({ resource, properties }) => readMethod(resource.logicalId, properties));
  return { ...self, children, methods: new Map(methods) };
}

function readMethod(logicalId: string, properties: Properties): [method: string, integration: Integration] {
  return readProperties(
    logicalId,
    properties,
    (take) => {
      const authorization = take<string>('AuthorizationType', 'NONE');
      if (authorization !== 'NONE') throw new Error(`${logicalId}: the local gateway does not do ${authorization}`);
      take('RestApiId');
      take('ResourceId');
      const needsApiKey = take('ApiKeyRequired', false);
      return [take<string>('HttpMethod'), readIntegration(logicalId, take('Integration'), needsApiKey)];
    },
    // They document a method; a proxy integration answers as the function says.
    ['MethodResponses', 'OperationName'],
  );
}
