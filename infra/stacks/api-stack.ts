import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as events from 'aws-cdk-lib/aws-events';
import * as targets from 'aws-cdk-lib/aws-events-targets';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { ROUTES } from '../../functions/routes.ts';
import { directTicketMs, type Sweeper } from '../../shared/contract/limits.ts';
import { methodsOf } from '../../shared/contract/route.ts';
import { MEMORY_DEFAULT_MB, type Needs, type Route } from '../../shared/route.ts';
import { acceptFindings } from '../constructs/accepted-finding.ts';
import { addGatewayResponses } from '../constructs/gateway-responses.ts';
import { acceptGateway, acceptOwnAuthorization, gatewayStage } from '../constructs/gateway-stage.ts';
import type { SharedResources } from '../constructs/needs.ts';
import { ServiceFunction, type ServiceFunctionProps } from '../constructs/service-function.ts';
import { SharedValue } from '../constructs/shared-value.ts';
import { addOutput } from '../settings/outputs.ts';
import { fixedName, type StageConfig } from '../settings/stage.ts';
import { BACKGROUND_NEEDS, needsOf } from './function-needs.ts';

/** What every stack with functions needs. */
export interface ServiceStackProps {
  readonly stage: StageConfig;
  readonly resources: SharedResources;
  readonly bundles: string;
}

/** Lambda's own maximum age of an event. Source: Lambda API, "PutFunctionEventInvokeConfig". */
const EVENT_AGE_MAX_SECONDS = 6 * 3_600;
/** Lambda gives CPU in proportion to memory: with this, a whole processor. Source: Lambda Developer Guide, "Configure Lambda function memory". */
const WHOLE_PROCESSOR_MB = 1_769;
/** Targets of one rule. Source: EventBridge User Guide, "Amazon EventBridge quotas". */
const TARGETS_MAX = 5;
/**
 * How many events are handled at the same time. An event usually takes a second. If the client's own attempt is under way, the event takes
 * as long as that attempt.
 */
const SETTLING_CONCURRENCY = 20;

/**
 * The gateway, with one function per route and one for unknown routes. Also the two functions that events and the schedule call. The stack
 * has no state.
 */
export class ApiStack extends Stack {
  readonly restApi: apigateway.RestApi;
  readonly restApiId: SharedValue;
  /** The names of all functions, by those of their bundles. */
  readonly functions: Readonly<Record<string, string>>;
  /** The names of the log groups of this stack. */
  readonly logGroups: readonly string[];
  /**
   * The name of the queue of events whose function failed at every attempt. No data is lost: the sweeper releases the reserved bytes of an
   * unsettled upload, and the next sweep does the work of a failed one. The message contains the cause.
   */
  readonly failedEvents: string;
  /** The metric that counts requests that the gateway refused because a route had too many. */
  readonly gatewayThrottles: cloudwatch.Metric;
  /** The same, of the steps of a login alone. */
  readonly loginThrottles: cloudwatch.Metric;
  readonly #functions: Record<string, lambda.Function> = {};
  readonly #queue: sqs.Queue;
  readonly #props: ServiceStackProps;

  constructor(scope: Construct, id: string, props: ServiceStackProps) {
    super(scope, id, { env: props.stage.place });
    this.#props = props;
    const { name: stage } = props.stage;
    this.failedEvents = fixedName(stage, 'FailedEvents');
    this.#queue = new sqs.Queue(this, 'FailedEvents', {
      queueName: this.failedEvents,
      encryption: sqs.QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    acceptFindings(this.#queue, {
      SQS3: 'This is the dead-letter queue itself; nothing consumes it',
    });
    const { options, throttles, loginThrottles, accessLogName } = gatewayStage(this, stage);
    this.gatewayThrottles = throttles;
    this.loginThrottles = loginThrottles;
    this.restApi = new apigateway.RestApi(this, 'Api', {
      description: 'File hosting API',
      // The name is a dimension of the gateway's metrics, so each stage has its own.
      restApiName: `FileHosting-${stage}`,
      endpointTypes: [apigateway.EndpointType.REGIONAL],
      binaryMediaTypes: ['*/*'],
      // All gateways of an AWS account write their logs with one role, the one that was set last. Each stage sets a role with the same
      // policy, and keeps it when the stack is deleted. So `dev`, `prod` and any other API keep logging whichever role is set. The stages
      // do not depend on each other.
      cloudWatchRole: true,
      cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
      // A request that bypasses CloudFront is rejected before a function runs (gateway-key.ts).
      defaultMethodOptions: { apiKeyRequired: true },
      deployOptions: options,
    });
    // Removes CDK's own output of the address, which has a generated name.
    this.restApi.node.tryRemoveChild('Endpoint');
    this.restApiId = new SharedValue(this, stage, 'RestApiId', this.restApi.restApiId);
    addOutput(this, 'GatewayUrl', this.restApi.url);
    addOutput(this, 'FailedEventsQueueUrl', this.#queue.queueUrl);
    acceptGateway(this.restApi);
    addGatewayResponses(this.restApi);
    this.addRoutes();
    this.addBackground();
    const bundles = Object.keys(this.#functions);
    this.functions = Object.fromEntries(bundles.map((bundle) => [bundle, fixedName(stage, bundle)]));
    const audited = Object.values<Route>(ROUTES).flatMap(({ name, isAudited }) => (isAudited ? name : []));
    const logged = bundles.filter((bundle) => !audited.includes(bundle));
    this.logGroups = [...logged.map((bundle) => fixedName(stage, bundle)), accessLogName];
    addOutput(this, 'DirectUploadRole', this.#functions.createUpload?.role?.roleName ?? '');
  }

  private addRoutes(): void {
    for (const route of Object.values<Route>(ROUTES)) {
      const { name, memoryMb = MEMORY_DEFAULT_MB, isAudited } = route;
      // The gateway gives up at 29 s; a function that ends before that can still answer with our error.
      const service = this.service(name, needsOf(route), memoryMb, 28, { ...(isAudited && { isAudited }) });
      const resource = this.restApi.root.resourceForPath(route.path);
      for (const method of methodsOf(route)) {
        acceptOwnAuthorization(resource.addMethod(method, integration(service)), route.access);
      }
    }
    this.addUnknownRoutes();
  }

  /**
   * Adds a catch-all to every resource. By itself the gateway answers an unknown method with 403, and cannot set `Allow`. It also
   * mistakes `Authorization: Bearer` on an unknown route for an AWS signature, and calls it invalid.
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
    const queue = this.#queue;
    const { limits, reservesConcurrency, sweepers } = this.#props.stage;
    // Two minutes are enough to wait for the end of the lease of a client's attempt that died (29 s), and then to copy 5,000 MiB (14 s, or
    // several times that). An event is useless after its ticket has ended, because the upload cannot be settled any more.
    const completeArrived = this.service('completeArrivedUpload', BACKGROUND_NEEDS.completeArrivedUpload, 1_024, 120, {
      failedEvents: {
        queue,
        retryAttempts: 2,
        maxAgeSeconds: Math.min(directTicketMs(limits.MAX_UPLOAD_SIZE_BYTES) / 1_000, EVENT_AGE_MAX_SECONDS),
      },
      // Further events wait in Lambda's queue, so that many uploads to S3 do not use up the account's concurrency.
      ...(reservesConcurrency && { reservedConcurrency: SETTLING_CONCURRENCY }),
    });
    new events.Rule(this, 'UploadArrived', {
      description: 'The bytes of a direct upload are in the bucket',
      eventPattern: {
        source: ['aws.s3'],
        detailType: ['Object Created'],
        detail: {
          bucket: { name: [this.#props.resources.uploads.in(this)] },
          object: { key: [{ prefix: 'incoming/' }] },
        },
      },
      targets: [new targets.LambdaFunction(completeArrived)],
    });
    // A sweep with much work stops by its own budget well before its time-out. A failed sweep is not retried, because the next
    // one does the same within a minute. With a whole processor it does three times as much as with 512 MB
    // (decision 0045).
    const sweep = this.service('sweep', BACKGROUND_NEEDS.sweep, WHOLE_PROCESSOR_MB, 55, {
      failedEvents: { queue, retryAttempts: 0, maxAgeSeconds: 60 },
      // Uploads that use up the account's concurrency must not block the sweeper, which frees their space. Two executions are enough for
      // each sweeper: one for a sweep, and one for the next sweep if the first began late. More would only compete for the same rows.
      ...(reservesConcurrency && { reservedConcurrency: 2 * sweepers }),
    });
    this.addSchedule(sweep, sweepers);
  }

  /** Runs the sweeper every minute. If there are several, each run is told which shards it sweeps; a single one sweeps all. */
  private addSchedule(sweep: lambda.IFunction, sweepers: number): void {
    const inputs =
      sweepers === 1 ? [undefined] : Array.from({ length: sweepers }, (_, sweeper): Sweeper => ({ sweeper, sweepers }));
    for (let first = 0; first < inputs.length; first += TARGETS_MAX) {
      new events.Rule(this, `EveryMinute${first === 0 ? '' : first}`, {
        description: 'Finish what uploads and deletions left unfinished',
        schedule: events.Schedule.rate(Duration.minutes(1)),
        targets: inputs
          .slice(first, first + TARGETS_MAX)
          .map(
            (input) => new targets.LambdaFunction(sweep, input && { event: events.RuleTargetInput.fromObject(input) }),
          ),
      });
    }
  }

  private service(
    name: string,
    needs: Needs,
    memoryMb: number,
    timeoutSeconds: number,
    options: Pick<ServiceFunctionProps, 'failedEvents' | 'reservedConcurrency' | 'isAudited'> = {},
  ): lambda.IFunction {
    const id = `${name[0]?.toUpperCase()}${name.slice(1)}`;
    const props = {
      ...this.#props,
      bundle: name,
      needs,
      memoryMb,
      timeoutSeconds,
      ...options,
    };
    const service = new ServiceFunction(this, id, props);
    this.#functions[name] = service.function;
    return service.function;
  }
}

/**
 * Connects methods to a function, by one permission for the whole API. Two permissions per method might exceed the 20 KB of a function's
 * policy.
 */
function integration(target: lambda.IFunction): apigateway.LambdaIntegration {
  return new apigateway.LambdaIntegration(target, { scopePermissionToMethod: false });
}
