import { join } from 'node:path';
import { Aws, CfnOutput, Duration, Fn, RemovalPolicy, Stack, Token, Validations } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { STREAMING_PLACES_PER_ENVIRONMENT } from '../../shared/contract/limits.ts';
import { acceptFindings } from '../constructs/accepted-finding.ts';
import { acceptCopierRole } from '../constructs/cdk-copier.ts';
import { addHelperLogs } from '../constructs/helper-logs.ts';
import { bindNeeds } from '../constructs/needs.ts';
import { addOutput } from '../settings/outputs.ts';
import type { ServiceStackProps } from './api-stack.ts';
import type { DataStack } from './data-stack.ts';
import { UPLOAD_STREAM_NEEDS } from './function-needs.ts';

/**
 * The streaming upload server: a Lambda Web Function, for forms that are too large for a Lambda event or of unknown length. The stack has
 * no state.
 */
export class StreamingStack extends Stack {
  readonly webFunction: lambda.WebFunction;
  /** The number of requests that all environments together serve at once. */
  readonly places: number;
  readonly logGroup: logs.ILogGroup;

  constructor(scope: Construct, id: string, props: ServiceStackProps & { data: DataStack; environments: number }) {
    super(scope, id, { env: props.stage.place });
    const { environments } = props;
    this.places = environments * STREAMING_PLACES_PER_ENVIRONMENT;
    this.logGroup = new logs.LogGroup(this, 'Logs', {
      retention: logs.RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    // The logs of CDK's function that copies the code. CDK's default would keep them for two years, even without the stack.
    const copyLogs = new logs.LogGroup(this, 'CodeCopyLogs', {
      retention: logs.RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = new iam.Role(this, 'Role', { assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com') });
    this.logGroup.grantWrite(role);
    this.webFunction = new lambda.WebFunction(this, 'UploadStream', {
      // These names must be unique in an account, over all Regions.
      webFunctionName: `FileHosting-${props.stage.name}-UploadStream-${Aws.REGION}`,
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
      logGroup: this.logGroup,
      environment: {
        ...throughOutputs(bindNeeds(role, UPLOAD_STREAM_NEEDS, props.resources, props.stage), props.data),
        // Streamed chunks become garbage at once: a small young generation is collected often, and memory stays small.
        NODE_OPTIONS: '--max-semi-space-size=2',
      },
    });
    // The code must not be deployed before its grants. For other functions CDK adds this dependency itself.
    this.webFunction.node.addDependency(role);
    Validations.of(this.webFunction).acknowledge({
      id: 'Annotation::@aws-cdk/aws-lambda:webFunctionPublicEndpoint',
      reason: 'The server rejects every request without the origin secret, and then authenticates the caller itself',
    });
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

/**
 * Passes on references to resources of the data stack, through outputs of that stack. A plain reference would stay unresolved: CDK resolves
 * references between stacks before the construct copies its configuration into a custom resource. The outputs are not exports, because
 * CloudFormation does not change an export in use: no domain could be changed, and no table replaced by a restored one.
 */
function throughOutputs(environment: Record<string, string>, from: Stack): Record<string, string> {
  const isOutput = (resolved: object) => Object.hasOwn(resolved, 'Fn::GetStackOutput');
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) => {
      if (!Token.isUnresolved(value) || isOutput(from.resolve(value))) return [name, value];
      const output = new CfnOutput(from, `UploadStream-${name}`, { value });
      return [name, Fn.getStackOutput(from.stackName, String(from.resolve(output.logicalId)))];
    }),
  );
}
