import { join } from 'node:path';
import { Aws, Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { STREAMING_PLACES_PER_ENVIRONMENT } from '../../shared/contract/limits.ts';
import { acceptFindings } from '../constructs/accepted-finding.ts';
import { acceptCopierRole } from '../constructs/cdk-copier.ts';
import { addHelperLogs } from '../constructs/helper-logs.ts';
import { bindNeeds } from '../constructs/needs.ts';
import { SharedValue } from '../constructs/shared-value.ts';
import { addOutput } from '../settings/outputs.ts';
import { fixedName } from '../settings/stage.ts';
import type { ServiceStackProps } from './api-stack.ts';
import { UPLOAD_STREAM_NEEDS } from './function-needs.ts';

/**
 * The streaming upload server: a Lambda Web Function, for forms that are too large for a Lambda event or of unknown length. The stack has
 * no state.
 */
export class StreamingStack extends Stack {
  /** The domain name of the function's endpoint. */
  readonly domain: SharedValue;
  readonly functionName: string;
  /** The number of requests that all environments together serve at once. */
  readonly places: number;
  readonly logGroupName: string;

  constructor(scope: Construct, id: string, props: ServiceStackProps & { environments: number }) {
    super(scope, id, { env: props.stage.place });
    const { environments } = props;
    this.places = environments * STREAMING_PLACES_PER_ENVIRONMENT;
    this.logGroupName = fixedName(props.stage.name, 'uploadStream');
    const expiring = { retention: logs.RetentionDays.ONE_MONTH, removalPolicy: RemovalPolicy.DESTROY };
    const logGroup = new logs.LogGroup(this, 'Logs', { logGroupName: this.logGroupName, ...expiring });
    // Lambda writes the lines of a Web Function to a log group of this name, and copies them from there. If it had to make the group, the
    // lines would never expire. Source: Lambda Developer Guide, "Web Function logs in Amazon CloudWatch Logs".
    const firstGroup = new logs.LogGroup(this, 'FirstLogs', {
      logGroupName: `${this.logGroupName}.local`,
      ...expiring,
    });
    // The logs of CDK's function that copies the code. CDK's default would keep them for two years, even without the stack.
    const copyLogs = new logs.LogGroup(this, 'CodeCopyLogs', expiring);
    const role = new iam.Role(this, 'Role', { assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com') });
    for (const group of [logGroup, firstGroup]) group.grantWrite(role);
    // These names must be unique in an account, over all Regions.
    this.functionName = `${fixedName(props.stage.name, 'UploadStream')}-${Aws.REGION}`;
    const webFunction = new lambda.WebFunction(this, 'UploadStream', {
      webFunctionName: this.functionName,
      code: lambda.WebFunctionCode.fromAssetToManagedBucket(join(props.bundles, 'uploadStream'), {
        copyOptions: { logGroup: copyLogs },
      }),
      runtime: lambda.WebFunctionRuntime.NODEJS_24_X,
      // The endpoint is public, and the function checks the origin secret and then the caller. Signed endpoints would need
      // the hash of the whole body in a header, which an upload that is streamed cannot send.
      defaultEndpointAuth: lambda.WebFunctionAuthType.APPLICATION_MANAGED,
      maxConcurrencyPerEnvironment: STREAMING_PLACES_PER_ENVIRONMENT,
      defaultEndpoint: { maxEnvironments: environments, rateLimit: 100 },
      timeout: Duration.seconds(900),
      role,
      logGroup,
      environment: {
        ...bindNeeds(role, UPLOAD_STREAM_NEEDS, props.resources, props.stage),
        // Streamed chunks become garbage at once: a small young generation is collected often, and memory stays small.
        NODE_OPTIONS: '--max-semi-space-size=2',
      },
    });
    // The code must not be deployed before its grants. For other functions CDK adds this dependency itself.
    webFunction.node.addDependency(role);
    Validations.of(webFunction).acknowledge({
      id: 'Annotation::@aws-cdk/aws-lambda:webFunctionPublicEndpoint',
      reason: 'The server rejects every request without the origin secret, and then authenticates the caller itself',
    });
    this.domain = new SharedValue(this, props.stage.name, 'StreamingDomain', webFunction.endpoint.domainName);
    addOutput(this, 'StreamingRole', role.roleName);
    addHelperLogs(this);
    this.acceptManagedBucket();
  }

  /** Accepts the findings in CDK's bucket for the code of Web Functions, and in the role that copies the code there. */
  private acceptManagedBucket(): void {
    const bucket = this.node.findChild('AWSCDKWebFunctionAssetBucket');
    acceptFindings(bucket, { S1: 'It holds the code of the function, written by CloudFormation and read by Lambda' });
    const copier = this.node.children.find(({ node }) => node.id.startsWith('Custom::S3ObjectCopy'));
    if (!copier) throw new Error('CDK has changed how it copies the code of Web Functions');
    acceptCopierRole(copier.node.findChild('ServiceRole'), {
      bucket,
      prefix: 'web-function/',
      actions: ['s3:DeleteObject*', 's3:Abort*'],
    });
  }
}
