import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import * as events from 'aws-cdk-lib/aws-events';
import * as targets from 'aws-cdk-lib/aws-events-targets';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { ROUTES, type RouteName } from '../../shared/routes.ts';
import { addGatewayResponses } from '../constructs/gateway-responses.ts';
import { gatewayStage } from '../constructs/gateway-stage.ts';
import type { Needs, SharedResources } from '../constructs/needs.ts';
import { ServiceFunction } from '../constructs/service-function.ts';
import type { StageConfig } from '../stage.ts';
import { BACKGROUND_NEEDS, ROUTE_NEEDS } from './function-needs.ts';

export interface ApiStackProps {
  readonly stage: StageConfig;
  readonly resources: SharedResources;
  readonly bundles: string;
}

/** The gateway, a function a route, and the two functions that events and the clock call. No state. */
export class ApiStack extends Stack {
  readonly restApi: apigateway.RestApi;
  readonly #props: ApiStackProps;

  constructor(scope: Construct, id: string, props: ApiStackProps) {
    super(scope, id);
    this.#props = props;
    this.restApi = new apigateway.RestApi(this, 'Api', {
      description: 'File hosting API',
      endpointTypes: [apigateway.EndpointType.REGIONAL],
      binaryMediaTypes: ['*/*'],
      // The gateways of an account write their logs by one role for all, whoever set it last. Every stage sets one of its
      // own, with the same policy, and leaves it behind when it goes: so whichever is set, `dev` and `prod` (and any
      // other API) go on logging, and neither waits for the other.
      cloudWatchRole: true,
      cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
      deployOptions: gatewayStage(this),
    });
    addGatewayResponses(this.restApi);
    this.addRoutes();
    this.addBackground();
  }

  private addRoutes(): void {
    for (const [name, route] of Object.entries(ROUTES) as [RouteName, (typeof ROUTES)[RouteName]][]) {
      // Uploads carry, hash and parse 4 MiB: half a vCPU's worth of memory. The rest wait for DynamoDB.
      const memoryMb = name === 'uploadFile' || name === 'listFiles' || name === 'completeUpload' ? 1_024 : 512;
      // The gateway gives up at 29 s; a function that ends before it can still answer with a body of its own.
      const service = this.service(name, ROUTE_NEEDS[name], memoryMb, 28);
      this.restApi.root.resourceForPath(route.path).addMethod(route.method, integration(service));
    }
    this.addUnknownRoutes();
  }

  /**
   * A catch-all on every resource, because the gateway would answer an unknown method with 403, cannot name the methods
   * there are, and reads `Authorization: Bearer` on an unmatched route as a broken signature.
   */
  private addUnknownRoutes(): void {
    const unknown = integration(this.service('unknownRoute', {}, 256, 5));
    this.restApi.root.addMethod('ANY', unknown);
    const seen = new Set<apigateway.IResource>();
    for (const { path } of Object.values(ROUTES)) {
      let resource: apigateway.IResource | undefined = this.restApi.root.resourceForPath(path);
      for (; resource?.parentResource; resource = resource.parentResource) {
        if (seen.has(resource)) continue;
        seen.add(resource);
        resource.addMethod('ANY', unknown);
      }
    }
    this.restApi.root.addResource('{proxy+}').addMethod('ANY', unknown);
  }

  private addBackground(): void {
    // A copy of 100 MiB inside S3 takes a few seconds; a crowded sweep stops by its own budget well before this.
    const settle = this.service('settleUpload', BACKGROUND_NEEDS.settleUpload, 512, 60);
    new events.Rule(this, 'UploadArrived', {
      description: 'The bytes of a direct upload are in the bucket',
      eventPattern: {
        source: ['aws.s3'],
        detailType: ['Object Created'],
        detail: {
          bucket: { name: [this.#props.resources.uploads.bucketName] },
          object: { key: [{ prefix: 'incoming/' }] },
        },
      },
      targets: [new targets.LambdaFunction(settle)],
    });
    const sweep = this.service('sweep', BACKGROUND_NEEDS.sweep, 512, 55);
    new events.Rule(this, 'EveryMinute', {
      description: 'Finish what uploads and deletions left unfinished',
      schedule: events.Schedule.rate(Duration.minutes(1)),
      targets: [new targets.LambdaFunction(sweep)],
    });
  }

  private service(name: string, needs: Needs, memoryMb: number, timeoutSeconds: number): lambda.Function {
    const id = `${name[0]?.toUpperCase()}${name.slice(1)}`;
    return new ServiceFunction(this, id, { ...this.#props, bundle: name, needs, memoryMb, timeoutSeconds }).function;
  }
}

/** One permission a function for the whole API, not two a method: a function's policy holds 20 KB. */
function integration(target: lambda.Function): apigateway.LambdaIntegration {
  return new apigateway.LambdaIntegration(target, { scopePermissionToMethod: false });
}
