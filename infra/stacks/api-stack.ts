import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import * as events from 'aws-cdk-lib/aws-events';
import * as targets from 'aws-cdk-lib/aws-events-targets';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { directTicketMs } from '../../shared/limits.ts';
import { methodsOf, ROUTES, type RouteName } from '../../shared/routes.ts';
import { acceptFindings } from '../constructs/accepted-finding.ts';
import { addGatewayResponses } from '../constructs/gateway-responses.ts';
import { acceptGateway, gatewayStage } from '../constructs/gateway-stage.ts';
import type { Needs, SharedResources } from '../constructs/needs.ts';
import { acceptOwnAuthorization } from '../constructs/own-authorization.ts';
import { ServiceFunction, type ServiceFunctionProps } from '../constructs/service-function.ts';
import { addOutput } from '../settings/outputs.ts';
import type { StageConfig } from '../settings/stage.ts';
import { BACKGROUND_NEEDS, ROUTE_NEEDS } from './function-needs.ts';

export interface ApiStackProps {
  readonly stage: StageConfig;
  readonly resources: SharedResources;
  readonly bundles: string;
}

/** Of the routes that need the half of a processor that comes with it; the rest wait for DynamoDB, for which 512 do. */
const MEMORY_MB: Readonly<Partial<Record<RouteName, number>>> = {
  // Parses, hashes and carries up to 4 MiB.
  uploadFile: 1_024,
  // A search folds and compares every name of the account.
  listFiles: 1_024,
  // Copies up to 5,000 MiB, many parts at once.
  completeUpload: 1_024,
};

/** Lambda keeps an event no longer. Source: Lambda API, "PutFunctionEventInvokeConfig". */
const EVENT_AGE_MAX_SECONDS = 6 * 3_600;
/** Events that are handled at once. Each takes a second as a rule, or as long as the attempt of the client that it waits for. */
const SETTLING_AT_ONCE = 20;

/** The gateway, a function a route, and the two functions that events and the clock call. No state. */
export class ApiStack extends Stack {
  readonly restApi: apigateway.RestApi;
  /** Every function, by the name of its bundle. */
  readonly functions: Readonly<Record<string, lambda.Function>>;
  /**
   * Events that a function failed at every time. None is a loss by itself (the sweeper gives an unsettled upload back, and
   * the next sweep does what one left): what is here says why that was necessary.
   */
  readonly failedEvents: sqs.Queue;
  readonly #functions: Record<string, lambda.Function> = {};
  readonly #props: ApiStackProps;

  constructor(scope: Construct, id: string, props: ApiStackProps) {
    super(scope, id);
    this.#props = props;
    this.functions = this.#functions;
    this.failedEvents = new sqs.Queue(this, 'FailedEvents', {
      encryption: sqs.QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    acceptFindings(this.failedEvents, {
      SQS3: 'It is where Lambda puts the events that functions failed at; nothing takes from it, so nothing fails at it',
    });
    this.restApi = new apigateway.RestApi(this, 'Api', {
      description: 'File hosting API',
      // Its metrics go by this name, so two stages must not share it.
      restApiName: `FileHosting-${props.stage.name}`,
      endpointTypes: [apigateway.EndpointType.REGIONAL],
      binaryMediaTypes: ['*/*'],
      // The gateways of an account write their logs by one role for all, whoever set it last. Every stage sets one of its
      // own, with the same policy, and leaves it behind when it goes: so whichever is set, `dev` and `prod` (and any
      // other API) go on logging, and neither waits for the other.
      cloudWatchRole: true,
      cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
      // What does not come through CloudFront is refused before a function runs (gateway-key.ts).
      defaultMethodOptions: { apiKeyRequired: true },
      deployOptions: gatewayStage(this),
    });
    // CDK's own output of the address, under a name that is made up.
    this.restApi.node.tryRemoveChild('Endpoint');
    addOutput(this, 'GatewayUrl', this.restApi.url);
    addOutput(this, 'FailedEventsQueueUrl', this.failedEvents.queueUrl);
    acceptGateway(this.restApi);
    addGatewayResponses(this.restApi);
    this.addRoutes();
    this.addBackground();
    addOutput(this, 'DirectUploadRole', this.#functions.uploadFile?.role?.roleName ?? '');
  }

  private addRoutes(): void {
    for (const [name, route] of Object.entries(ROUTES) as [RouteName, (typeof ROUTES)[RouteName]][]) {
      // The gateway gives up at 29 s; a function that ends before it can still answer with a body of its own.
      const service = this.service(name, ROUTE_NEEDS[name], MEMORY_MB[name] ?? 512, 28);
      const resource = this.restApi.root.resourceForPath(route.path);
      for (const method of methodsOf(route)) {
        acceptOwnAuthorization(resource.addMethod(method, integration(service)), route.access);
      }
    }
    this.addUnknownRoutes();
  }

  /**
   * A catch-all on every resource, because the gateway would answer an unknown method with 403, cannot name the methods
   * there are, and reads `Authorization: Bearer` on an unmatched route as a broken signature.
   */
  private addUnknownRoutes(): void {
    const unknown = integration(this.service('unknownRoute', {}, 256, 5));
    const addUnknown = (to: apigateway.IResource) => acceptOwnAuthorization(to.addMethod('ANY', unknown), 'unknown');
    addUnknown(this.restApi.root);
    const seen = new Set<apigateway.IResource>();
    for (const { path } of Object.values(ROUTES)) {
      let resource: apigateway.IResource | undefined = this.restApi.root.resourceForPath(path);
      for (; resource?.parentResource; resource = resource.parentResource) {
        if (seen.has(resource)) continue;
        seen.add(resource);
        addUnknown(resource);
      }
    }
    addUnknown(this.restApi.root.addResource('{proxy+}'));
  }

  private addBackground(): void {
    const queue = this.failedEvents;
    const { limits, reserveConcurrency } = this.#props.stage;
    // Time to wait for the lease of an attempt that died (29 s), then to copy 5,000 MiB (14 s, or many times that). Once its
    // ticket has ended, an upload cannot be settled any more.
    const settle = this.service('settleUpload', BACKGROUND_NEEDS.settleUpload, 1_024, 120, {
      failedEvents: {
        queue,
        retryAttempts: 2,
        maxAgeSeconds: Math.min(directTicketMs(limits.MAX_UPLOAD_SIZE_BYTES) / 1_000, EVENT_AGE_MAX_SECONDS),
      },
      // Events beyond these wait in Lambda's queue, so that no flood of uploads to S3 takes the functions of the account.
      ...(reserveConcurrency && { reservedConcurrency: SETTLING_AT_ONCE }),
    });
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
    // A crowded sweep stops by its own budget well before its time is up; one that fails is not tried again, because the
    // next one does the same within a minute.
    const sweep = this.service('sweep', BACKGROUND_NEEDS.sweep, 512, 55, {
      failedEvents: { queue, retryAttempts: 0, maxAgeSeconds: 60 },
      // Uploads that take all the account's functions must not keep out what gives their room back. Two: one at work, and
      // the next, should the first be late; more at once would only take each other's rows.
      ...(reserveConcurrency && { reservedConcurrency: 2 }),
    });
    new events.Rule(this, 'EveryMinute', {
      description: 'Finish what uploads and deletions left unfinished',
      schedule: events.Schedule.rate(Duration.minutes(1)),
      targets: [new targets.LambdaFunction(sweep)],
    });
  }

  private service(
    name: string,
    needs: Needs,
    memoryMb: number,
    timeoutSeconds: number,
    background: Pick<ServiceFunctionProps, 'failedEvents' | 'reservedConcurrency'> = {},
  ): lambda.Function {
    const id = `${name[0]?.toUpperCase()}${name.slice(1)}`;
    const props = { ...this.#props, bundle: name, needs, memoryMb, timeoutSeconds, ...background };
    const service = new ServiceFunction(this, id, props).function;
    this.#functions[name] = service;
    return service;
  }
}

/** One permission a function for the whole API, not two a method: a function's policy holds 20 KB. */
function integration(target: lambda.Function): apigateway.LambdaIntegration {
  return new apigateway.LambdaIntegration(target, { scopePermissionToMethod: false });
}
