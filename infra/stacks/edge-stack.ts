import { type CfnOutput, Stack } from 'aws-cdk-lib';
import type * as apigateway from 'aws-cdk-lib/aws-apigateway';
import type * as cloudfront from 'aws-cdk-lib/aws-cloudfront';
import * as ssm from 'aws-cdk-lib/aws-ssm';
import type { Construct } from 'constructs';
import { ROUTES } from '../../functions/routes.ts';
import type { DashboardFiles } from '../bundle/build-dashboard.ts';
import { AppDistribution } from '../constructs/app-distribution.ts';
import type { SharedResources } from '../constructs/needs.ts';
import { addressOf } from '../constructs/viewer-side.ts';
import { commitCheckedOut } from '../settings/commit.ts';
import { addOutput } from '../settings/outputs.ts';
import { commitParameterName, type StageConfig } from '../settings/stage.ts';
import type { WebAcl } from './firewall-stack.ts';
import type { StreamingStack } from './streaming-stack.ts';

export interface EdgeStackProps {
  readonly stage: StageConfig;
  readonly resources: SharedResources;
  readonly api: apigateway.RestApi;
  /** Absent when streaming uploads are off. */
  readonly streaming: StreamingStack | undefined;
  readonly dashboard: DashboardFiles;
  /** The web ACL of both distributions, if they have one. */
  readonly webAcl: WebAcl | undefined;
}

/** The stack of the "app" distribution, which serves API and dashboard. It has no state. */
export class EdgeStack extends Stack {
  readonly distribution: cloudfront.Distribution;
  readonly distributionId: CfnOutput;

  constructor(scope: Construct, id: string, props: EdgeStackProps) {
    super(scope, id, { env: props.stage.place });
    if (props.webAcl?.stack) this.addStackDependency(props.webAcl.stack);
    this.distribution = new AppDistribution(this, 'App', {
      api: props.api,
      streamingDomain: props.streaming?.webFunction.endpoint.domainName,
      originSecret: props.resources.originSecret,
      stage: props.stage,
      webAclArn: props.webAcl?.arn,
      uploads: props.resources.uploads,
      cdnUrl: props.resources.cdnUrl,
      dashboard: props.dashboard,
    }).distribution;
    this.distributionId = addOutput(this, 'AppDistributionId', this.distribution.distributionId);
    const appUrl = addressOf(this.distribution, props.stage.appDomain);
    // Functions read this address from a parameter, because their stack is deployed before this distribution.
    new ssm.StringParameter(this, 'AppUrl', {
      parameterName: props.resources.appUrlParameterName,
      stringValue: appUrl,
      description: 'Address of API and dashboard',
    });
    // This parameter is in the last of the stacks that answer requests. So it names a commit only when all of them have been deployed from
    // it, and a deployment that fails before this stack, or at it, leaves the commit to which an operator can go back.
    new ssm.StringParameter(this, 'Commit', {
      parameterName: commitParameterName(props.stage.name),
      stringValue: commitCheckedOut(),
      description: 'The commit that is deployed, to which an operator can go back',
    });
    addOutput(this, 'BaseUrl', `${appUrl}/api/v1`);
    addOutput(this, 'DashboardUrl', appUrl);
    addOutput(this, 'CdnUrl', props.resources.cdnUrl);
    addOutput(this, 'LoginRedirectUri', appUrl + ROUTES.finishLogin.path);
    addOutput(this, 'AppDistributionDomain', this.distribution.distributionDomainName);
  }
}
