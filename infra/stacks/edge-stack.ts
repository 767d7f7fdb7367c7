import { type CfnOutput, Stack } from 'aws-cdk-lib';
import * as ssm from 'aws-cdk-lib/aws-ssm';
import type { Construct } from 'constructs';
import { ROUTES } from '../../functions/routes.ts';
import type { DashboardFiles } from '../bundle/build-dashboard.ts';
import { AppDistribution } from '../constructs/app-distribution.ts';
import type { SharedResources } from '../constructs/needs.ts';
import { SharedValue } from '../constructs/shared-value.ts';
import { addressOf } from '../constructs/viewer-side.ts';
import { commitCheckedOut } from '../settings/commit.ts';
import { addOutput } from '../settings/outputs.ts';
import { parameterName, type StageConfig } from '../settings/stage.ts';
import type { ApiStack } from './api-stack.ts';
import type { WebAcl } from './firewall-stack.ts';
import type { StreamingStack } from './streaming-stack.ts';

export interface EdgeStackProps {
  readonly stage: StageConfig;
  readonly resources: SharedResources;
  readonly api: ApiStack;
  /** Absent when streaming uploads are off. */
  readonly streaming: StreamingStack | undefined;
  readonly dashboard: DashboardFiles;
  /** The web ACL of both distributions, if they have one. */
  readonly webAcl: WebAcl | undefined;
}

/** The stack of the "app" distribution, which serves API and dashboard. It has no state. */
export class EdgeStack extends Stack {
  readonly distributionId: SharedValue;
  /** The same id, for stacks in other Regions. */
  readonly distributionIdOutput: CfnOutput;

  constructor(scope: Construct, id: string, props: EdgeStackProps) {
    super(scope, id, { env: props.stage.place });
    if (props.webAcl?.stack) this.addStackDependency(props.webAcl.stack);
    const { distribution } = new AppDistribution(this, 'App', {
      apiId: props.api.restApiId.in(this),
      streamingDomain: props.streaming?.domain.in(this),
      resources: props.resources,
      stage: props.stage,
      webAclArn: props.webAcl?.arn,
      dashboard: props.dashboard,
    });
    this.distributionIdOutput = addOutput(this, 'AppDistributionId', distribution.distributionId);
    this.distributionId = new SharedValue(this, props.stage.name, 'AppDistributionId', distribution.distributionId);
    const appUrl = addressOf(distribution, props.stage.appDomain);
    // Functions read this address from a parameter, because their stack is deployed before this distribution.
    new ssm.StringParameter(this, 'AppUrl', {
      parameterName: parameterName(props.stage.name, 'app-url'),
      stringValue: appUrl,
      description: 'Address of API and dashboard',
    });
    // This parameter is in the last of the stacks that answer requests. So it names a commit only when all of them have been deployed from
    // it, and a deployment that fails before this stack, or at it, leaves the commit to which an operator can go back.
    new ssm.StringParameter(this, 'Commit', {
      parameterName: parameterName(props.stage.name, 'commit'),
      stringValue: commitCheckedOut(),
      description: 'The commit that is deployed, to which an operator can go back',
    });
    addOutput(this, 'BaseUrl', `${appUrl}/api/v1`);
    addOutput(this, 'DashboardUrl', appUrl);
    addOutput(this, 'CdnUrl', props.resources.cdnUrl.in(this));
    addOutput(this, 'LoginRedirectUri', appUrl + ROUTES.finishLogin.path);
    addOutput(this, 'AppDistributionDomain', distribution.distributionDomainName);
  }
}
