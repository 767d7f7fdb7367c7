import { join } from 'node:path';
import { Aws, CfnOutput, Duration, Fn, RemovalPolicy, Stack, Token, Validations } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { STREAMING_PLACES_PER_ENVIRONMENT } from '../../shared/limits.ts';
import { acceptFindings } from '../constructs/accepted-finding.ts';
import { acceptCopierRole } from '../constructs/cdk-copier.ts';
import { endHelperLogs } from '../constructs/helper-logs.ts';
import { bindNeeds } from '../constructs/needs.ts';
import type { ApiStackProps } from './api-stack.ts';
import type { DataStack } from './data-stack.ts';
import { UPLOAD_STREAM_NEEDS } from './function-needs.ts';

/** The streaming upload server: a Lambda Web Function, which takes bodies that no Lambda event can hold. No state. */
export class StreamingStack extends Stack {
  readonly webFunction: lambda.WebFunction;
  /** Requests that all environments together serve at once. */
  readonly places: number;

  constructor(scope: Construct, id: string, props: ApiStackProps & { data: DataStack }) {
    super(scope, id);
    const environments = props.stage.streamingEnvironments;
    this.places = environments * STREAMING_PLACES_PER_ENVIRONMENT;
    const logGroup = new logs.LogGroup(this, 'Logs', {
      retention: logs.RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    // Of the function that copies the code; CDK's own would be kept for two years, also without its stack.
    const copyLogs = new logs.LogGroup(this, 'CodeCopyLogs', {
      retention: logs.RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = new iam.Role(this, 'Role', { assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com') });
    logGroup.grantWrite(role);
    this.webFunction = new lambda.WebFunction(this, 'UploadStream', {
      // These names are unique in an account, over all Regions.
      webFunctionName: `FileHosting-${props.stage.name}-UploadStream-${Aws.REGION}`,
      code: lambda.WebFunctionCode.fromAssetToManagedBucket(join(props.bundles, 'uploadStream'), {
        copyOptions: { logGroup: copyLogs },
      }),
      runtime: lambda.WebFunctionRuntime.NODEJS_24_X,
      // Open to all, so the function checks the origin secret and then the caller: signed endpoints need the hash of the
      // whole body in a header, which no form upload can send.
      defaultEndpointAuth: lambda.WebFunctionAuthType.APPLICATION_MANAGED,
      maxConcurrencyPerEnvironment: STREAMING_PLACES_PER_ENVIRONMENT,
      defaultEndpoint: { maxEnvironments: environments, rateLimit: 100 },
      timeout: Duration.seconds(900),
      role,
      logGroup,
      environment: {
        ...published(bindNeeds(role, UPLOAD_STREAM_NEEDS, props.resources, props.stage), props.data),
        STREAMING_PLACES: String(STREAMING_PLACES_PER_ENVIRONMENT),
        // What streams through is garbage at once: a small young generation is collected often, and memory stays small.
        NODE_OPTIONS: '--max-semi-space-size=2',
      },
    });
    // As of every other function CDK sees to it itself: no code is deployed before the grants that came with it.
    this.webFunction.node.addDependency(role);
    Validations.of(this.webFunction).acknowledge({
      id: 'Annotation::@aws-cdk/aws-lambda:webFunctionPublicEndpoint',
      reason: 'The server refuses every request without the origin secret, then authenticates the caller itself',
    });
    endHelperLogs(this);
    this.acceptManagedBucket();
  }

  /** Where CDK keeps the code of Web Functions, and what copies it there. */
  private acceptManagedBucket(): void {
    const bucket = this.node.findChild('AWSCDKWebFunctionAssetBucket');
    acceptFindings(bucket, { S1: 'Holds the code of the function, which CloudFormation puts there and Lambda reads' });
    const copier = this.node.children.find(({ node }) => node.id.startsWith('Custom::S3ObjectCopy'));
    if (!copier) throw new Error('CDK copies the code of Web Functions in another way than it did');
    acceptCopierRole(copier.node.findChild('ServiceRole'), {
      bucket,
      prefix: 'web-function/',
      actions: ['s3:DeleteObject*', 's3:Abort*'],
    });
  }
}

/**
 * The values by way of outputs of the other stack. The construct copies its revision's configuration into a custom resource
 * after CDK has resolved references between stacks, so a plain one would stay one to a resource of another stack. (Outputs
 * and not exports: CloudFormation lets go of none that is in use, so no domain could be changed, and no restored table take
 * the place of another.)
 */
function published(environment: Record<string, string>, from: Stack): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) => {
      if (!Token.isUnresolved(value)) return [name, value];
      const output = new CfnOutput(from, `UploadStream-${name}`, { value });
      return [name, Fn.getStackOutput(from.stackName, String(from.resolve(output.logicalId)))];
    }),
  );
}
