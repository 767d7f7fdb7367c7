import { CfnResource, RemovalPolicy, type Stack } from 'aws-cdk-lib';
import { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';

/**
 * Gives the functions that CDK itself adds to a stack a log group that ends with it: Lambda would make them one that is
 * kept for ever. To be called when all else of the stack is made.
 */
export function endHelperLogs(stack: Stack): void {
  // CDK makes its own without the class that has the settings of a log group.
  const helpers = stack.node
    .findAll()
    .filter((child): child is CfnResource => CfnResource.isCfnResource(child) && !(child instanceof CfnFunction))
    .filter(({ cfnResourceType }) => cfnResourceType === CfnFunction.CFN_RESOURCE_TYPE_NAME);
  if (helpers.length === 0) return;
  const { logGroupName } = new logs.LogGroup(stack, 'HelperLogs', {
    retention: logs.RetentionDays.ONE_MONTH,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  for (const helper of helpers) helper.addPropertyOverride('LoggingConfig.LogGroup', logGroupName);
}
