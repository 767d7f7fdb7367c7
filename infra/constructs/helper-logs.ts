import { CfnResource, RemovalPolicy, type Stack } from 'aws-cdk-lib';
import { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';

/**
 * Adds a log group for the functions that CDK itself adds to a stack. This log group is deleted with the stack; a log group that Lambda
 * creates would be kept for ever. Call this function when the stack is otherwise complete.
 */
export function addHelperLogs(stack: Stack): void {
  // CDK creates these functions as plain resources, without the class that has a property for the log group.
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
