import { Aws, Stack } from 'aws-cdk-lib';
import * as codedeploy from 'aws-cdk-lib/aws-codedeploy';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { acceptFindings, arnInFindings } from './accepted-finding.ts';

export interface GradualDeploymentsProps {
  /** The names of the alarms that stop a deployment. They exist before the functions. */
  readonly alarmNames: readonly string[];
  /**
   * If true, alarms do not stop the deployment, because it fixes their cause. Then all requests go to the new version
   * immediately.
   */
  readonly ignoresAlarms: boolean;
}

/** The name of every alias. */
const LIVE = 'live';

/**
 * A tenth of the requests goes to the new version for five minutes, and then all of them. The alarm `InternalError` needs at most
 * three minutes to see an error: one to the end of its period, and CloudWatch's delay. (The alarm of the canary needs a quarter of an
 * hour.)
 */
const CONFIG = codedeploy.LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES;
/**
 * For a deployment that alarms do not stop. With steps, nothing would judge the new version in the five minutes, and nine tenths of the
 * requests would still meet the fault of the old version.
 */
const CONFIG_WITHOUT_ALARMS = codedeploy.LambdaDeploymentConfig.ALL_AT_ONCE;

/**
 * Moves functions to their new versions. All callers of a function call its alias. When a deployment changes the function, CloudFormation
 * lets CodeDeploy move the alias. CodeDeploy moves it back when an alarm starts meanwhile. It also does so when the function that checks
 * the new version reports a failure (decision 0037). When the stack is created, there is nothing to move.
 */
export class GradualDeployments extends Construct {
  readonly #application: codedeploy.LambdaApplication;
  readonly #role: iam.Role;
  readonly #props: GradualDeploymentsProps;
  #check: lambda.Function | undefined;

  constructor(scope: Construct, id: string, props: GradualDeploymentsProps) {
    super(scope, id);
    this.#props = props;
    this.#application = new codedeploy.LambdaApplication(this, 'Application');
    this.#role = this.role();
  }

  /**
   * Lets a function check each new version when all requests reach that version, and decide whether it stays. Call this before
   * `addAlias`.
   */
  checkBy(check: lambda.Function): void {
    this.#check = check;
    this.allow(['lambda:InvokeFunction'], [check.functionArn]);
  }

  /**
   * Adds the alias of a function, and lets CodeDeploy move it.
   * @param name  of the deployment group, by which the check knows the function.
   * @param events  what happens to events that the function fails to handle, if it is invoked asynchronously.
   */
  addAlias(fn: lambda.Function, name: string, events: lambda.EventInvokeConfigOptions = {}): lambda.Alias {
    const alias = new lambda.Alias(fn, 'Live', { aliasName: LIVE, version: fn.currentVersion, ...events });
    this.allow(['lambda:GetAlias', 'lambda:UpdateAlias'], [fn.functionArn]);
    // CodeDeploy calls this action for the alias and for both versions. The template does not know the numbers of versions.
    this.allow(['lambda:GetProvisionedConcurrencyConfig'], [`${fn.functionArn}:*`]);
    acceptFindings(this.#role.node.findChild('DefaultPolicy'), {
      [`IAM5[Resource::${arnInFindings(fn)}:*]`]:
        'The versions of a function get their numbers when they are published',
    });
    const group = this.addGroup(name);
    (alias.node.defaultChild as lambda.CfnAlias).cfnOptions.updatePolicy = {
      codeDeployLambdaAliasUpdate: {
        applicationName: this.#application.applicationName,
        deploymentGroupName: group.ref,
        ...(this.#check && { afterAllowTrafficHook: this.#check.functionName }),
      },
    };
    // CloudFormation updates the deployment group first, so that CodeDeploy moves the alias as the new template says.
    alias.node.addDependency(group, this.#role);
    if (this.#check) {
      alias.node.addDependency(this.#check);
      this.letReport(this.#check, name);
    }
    return alias;
  }

  /** CDK's own construct would give the role a managed policy, which allows it to move every alias of the account. */
  private addGroup(name: string): codedeploy.CfnDeploymentGroup {
    const { deploymentConfigName } = this.#props.ignoresAlarms ? CONFIG_WITHOUT_ALARMS : CONFIG;
    return new codedeploy.CfnDeploymentGroup(this, name, {
      applicationName: this.#application.applicationName,
      deploymentGroupName: name,
      serviceRoleArn: this.#role.roleArn,
      deploymentConfigName,
      deploymentStyle: { deploymentOption: 'WITH_TRAFFIC_CONTROL', deploymentType: 'BLUE_GREEN' },
      alarmConfiguration: {
        enabled: !this.#props.ignoresAlarms,
        alarms: this.#props.alarmNames.map((alarm) => ({ name: alarm })),
      },
      autoRollbackConfiguration: {
        enabled: true,
        events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_ALARM', 'DEPLOYMENT_STOP_ON_REQUEST'],
      },
    });
  }

  private letReport(check: lambda.Function, name: string): void {
    const group = `${this.#application.applicationName}/${name}`;
    check.addToRolePolicy(
      new iam.PolicyStatement({
        actions: ['codedeploy:GetDeployment', 'codedeploy:PutLifecycleEventHookExecutionStatus'],
        resources: [Stack.of(this).formatArn({ service: 'codedeploy', resource: `deploymentgroup:${group}` })],
      }),
    );
  }

  private role(): iam.Role {
    const role = new iam.Role(this, 'Role', { assumedBy: new iam.ServicePrincipal('codedeploy.amazonaws.com') });
    const alarms = `arn:${Aws.PARTITION}:cloudwatch:${Aws.REGION}:${Aws.ACCOUNT_ID}:alarm:*`;
    role.addToPolicy(new iam.PolicyStatement({ actions: ['cloudwatch:DescribeAlarms'], resources: [alarms] }));
    acceptFindings(role.node.findChild('DefaultPolicy'), {
      'IAM5[Resource::arn:<AWS::Partition>:cloudwatch:<AWS::Region>:<AWS::AccountId>:alarm:*]':
        'It lets CodeDeploy read the state of alarms; AWS does not document whether CodeDeploy names them when it asks',
    });
    return role;
  }

  private allow(actions: string[], resources: string[]): void {
    this.#role.addToPolicy(new iam.PolicyStatement({ actions, resources }));
  }
}
