import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { readRestApis } from '../../../local-aws/gateway/rest-api.ts';
import { startGateway } from '../../../local-aws/gateway/start-gateway.ts';
import { readFunctions } from '../../../local-aws/lambda/function-config.ts';
import { createLambdaService, readPermissions } from '../../../local-aws/lambda/lambda-service.ts';
import type { Template } from '../../../local-aws/template/assembly.ts';
import { ACCOUNT, deploy, lambdaFunction } from '../assembly-fixture.ts';

type Resources = Template['Resources'];

/** The methods of an API, each with its function: `GET /files/{id}` → logical id of the function. */
type Routes = Readonly<Record<string, string>>;

const RestApiId = { Ref: 'Api' };

/** A REST API as CDK writes it, at the stage `live`. */
export function restApi(routes: Routes, binaryMediaTypes: readonly string[] = []): Resources {
  const resources: Resources = {
    Api: { Type: 'AWS::ApiGateway::RestApi', Properties: { Name: 'Api', BinaryMediaTypes: binaryMediaTypes } },
    Deployment: { Type: 'AWS::ApiGateway::Deployment', Properties: { RestApiId } },
    Stage: {
      Type: 'AWS::ApiGateway::Stage',
      Properties: { RestApiId, StageName: 'live', DeploymentId: { Ref: 'Deployment' } },
    },
  };
  for (const [route, target] of Object.entries(routes)) {
    const [method = '', path = ''] = route.split(' ');
    const ResourceId = addPath(resources, path);
    const Uri = {
      'Fn::Join': [
        '',
        [
          'arn:aws:apigateway:eu-west-1:lambda:path/2015-03-31/functions/',
          { 'Fn::GetAtt': [target, 'Arn'] },
          '/invocations',
        ],
      ],
    };
    const Integration = { Type: 'AWS_PROXY', IntegrationHttpMethod: 'POST', Uri };
    const Properties = { RestApiId, ResourceId, HttpMethod: method, AuthorizationType: 'NONE', Integration };
    resources[`Method${Object.keys(resources).length}`] = { Type: 'AWS::ApiGateway::Method', Properties };
    resources[`Permission${target}`] = permission(target);
  }
  return resources;
}

function permission(target: string): Resources[string] {
  return {
    Type: 'AWS::Lambda::Permission',
    Properties: {
      Action: 'lambda:InvokeFunction',
      FunctionName: { 'Fn::GetAtt': [target, 'Arn'] },
      Principal: 'apigateway.amazonaws.com',
      SourceArn: { 'Fn::Join': ['', ['arn:aws:execute-api:eu-west-1:111122223333:', { Ref: 'Api' }, '/*/*/*']] },
    },
  };
}

export function gatewayResponse(ResponseType: string, properties: Readonly<Record<string, unknown>>) {
  return { Type: 'AWS::ApiGateway::GatewayResponse', Properties: { RestApiId, ResponseType, ...properties } };
}

function addPath(resources: Resources, path: string): unknown {
  let parent: unknown = { 'Fn::GetAtt': ['Api', 'RootResourceId'] };
  let logicalId = 'Path';
  for (const part of path.split('/').filter((text) => text !== '')) {
    logicalId += `_${part}`;
    const Properties = { RestApiId, ParentId: parent, PathPart: part };
    resources[logicalId] ??= { Type: 'AWS::ApiGateway::Resource', Properties };
    parent = { Ref: logicalId };
  }
  return parent;
}

const opened: (() => Promise<void>)[] = [];

/** Starts a gateway with one function per asset; its logical id is the asset's name. */
export async function gatewayWith(
  resources: Resources,
  code: Readonly<Record<string, string>>,
  functionProperties: Readonly<Record<string, unknown>> = {},
) {
  const functions = Object.keys(code).map((name) => [name, lambdaFunction(name, functionProperties)]);
  const assets = Object.entries(code).map(([name, source]) => [name, { 'index.js': source }]);
  const deployment = await deploy({ ...Object.fromEntries(functions), ...resources }, Object.fromEntries(assets));
  const lambda = createLambdaService({
    functions: readFunctions(deployment),
    mayInvoke: readPermissions(deployment),
    surroundings: { region: ACCOUNT.region, awsEndpoint: '' },
    onLog: () => {},
  });
  const [api] = readRestApis(deployment);
  if (!api) throw new Error('no API');
  const failures: string[] = [];
  const accesses: string[] = [];
  const gateway = await startGateway({
    api,
    account: ACCOUNT,
    lambda,
    onFailure: ({ reason }) => failures.push(reason),
    onAccess: (group, line) => accesses.push(`${group} ${line}`),
  });
  opened.push(async () => {
    await gateway.close();
    await lambda.close();
  });

  const open = (target: string, headers: Record<string, string | string[]> = {}) => {
    const [method = '', path = ''] = target.split(/ (.*)/s);
    return request({ port: gateway.port, method, path: `/live${path}`, headers, agent: false });
  };
  const send = (target: string, headers = {}, body: string | Buffer = '') => answerOf(open(target, headers).end(body));
  return { api, lambda, failures, accesses, port: gateway.port, open, send };
}

export async function answerOf(sent: ReturnType<typeof request>) {
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const body = await text(response);
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}

export async function closeGateways(): Promise<void> {
  await Promise.all(opened.splice(0).map((close) => close()));
}
