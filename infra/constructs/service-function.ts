import { join } from 'node:path';
import { Aws, Duration, RemovalPolicy } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Needs } from '../../shared/route.ts';
import { fixedName, type StageConfig } from '../settings/stage.ts';
import { bindNeeds, type SharedResources } from './needs.ts';

export interface ServiceFunctionProps {
  readonly stage: StageConfig;
  readonly resources: SharedResources;
  /** The folder that holds a folder for each bundle. */
  readonly bundles: string;
  readonly bundle: string;
  readonly needs: Needs;
  /** In MB. Lambda gives CPU in proportion (1,769 MB is one vCPU). */
  readonly memoryMb: number;
  readonly timeoutSeconds: number;
  /** If true, the function writes its lines to the audit trail. Otherwise it has a log group of its own. */
  readonly isAudited?: boolean;
  /**
   * The concurrency that is reserved for this function. Without it, the function uses the unreserved concurrency of the AWS
   * account.
   */
  readonly reservedConcurrency?: number;
  /** What happens to events that the function failed to handle; absent for a function that is not invoked asynchronously. */
  readonly failedEvents?: FailedEvents;
}

interface FailedEvents {
  /** The number of retries, 0 to 2. The first comes after one minute, the second two minutes later. */
  readonly retryAttempts: number;
  /** The age at which Lambda discards an event, 60 to 21,600. */
  readonly maxAgeSeconds: number;
  /** The queue receives the events that failed at every attempt or became too old, with the last error. */
  readonly queue: sqs.IQueue;
}

/** A Lambda function with its own role, granted exactly what it needs. */
export class ServiceFunction extends Construct {
  readonly function: lambda.Function;

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    super(scope, id);
    // Lambda states for whose function it assumes the role. Source: Lambda Developer Guide, "Working with AWS managed policies in the
    // execution role".
    const conditions = { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } };
    const assumedBy = new iam.ServicePrincipal('lambda.amazonaws.com', { conditions });
    const role = new iam.Role(this, 'Role', { assumedBy });
    const name = fixedName(props.stage.name, props.bundle);
    const logGroup = props.isAudited ? this.auditLog(role, props.resources) : this.ownLog(role, name);
    const environment = bindNeeds(role, props.needs, props.resources, props.stage);
    this.function = new lambda.Function(this, 'Function', {
      functionName: name,
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      code: lambda.Code.fromAsset(join(props.bundles, props.bundle)),
      handler: 'index.handler',
      memorySize: props.memoryMb,
      timeout: Duration.seconds(props.timeoutSeconds),
      role,
      logGroup,
      environment,
      ...(props.reservedConcurrency !== undefined && { reservedConcurrentExecutions: props.reservedConcurrency }),
      ...(props.failedEvents && asyncInvoke(props.failedEvents, role)),
    });
  }

  private ownLog(role: iam.Role, logGroupName: string): logs.ILogGroup {
    const group = new logs.LogGroup(this, 'Logs', {
      logGroupName,
      retention: logs.RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    group.grantWrite(role);
    return group;
  }

  /** Lets the function write to the log group of the audit trail, which is in the data stack. */
  private auditLog(role: iam.Role, { auditLog, auditLogArn }: SharedResources): logs.ILogGroup {
    role.addToPolicy(
      new iam.PolicyStatement({
        actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        resources: [auditLogArn.in(this)],
      }),
    );
    return logs.LogGroup.fromLogGroupName(this, 'Logs', auditLog.in(this));
  }
}

/** This does not use CDK's destination, which would also grant reading the queue's attributes. */
function asyncInvoke(
  { retryAttempts, maxAgeSeconds, queue }: FailedEvents,
  role: iam.Role,
): lambda.EventInvokeConfigOptions {
  role.addToPolicy(new iam.PolicyStatement({ actions: ['sqs:SendMessage'], resources: [queue.queueArn] }));
  return {
    retryAttempts,
    maxEventAge: Duration.seconds(maxAgeSeconds),
    onFailure: { bind: () => ({ destination: queue.queueArn }) },
  };
}
