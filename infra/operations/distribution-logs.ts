import { Aws, RemovalPolicy, type Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as logs from 'aws-cdk-lib/aws-logs';
import { DOWNLOAD_LOG_FIELDS, EDGE_LOG_FIELDS } from '../settings/log-queries.ts';

/** The log groups of the two distributions. */
export interface DistributionLogs {
  readonly requests: logs.LogGroup;
  readonly downloads: logs.LogGroup;
}

/**
 * Adds the logs of the two distributions. The log of the app has a line for every request, also for those that the edge refuses. It is kept
 * for a month, like the logs of the functions. The log of the links says which files were read but not by whom. It is kept
 * for a week (decision 0029). CloudFront delivers its logs to CloudWatch only in us-east-1.
 * @param ids  the ids of the distributions.
 */
export function addDistributionLogs(stack: Stack, ids: Readonly<Record<'app' | 'cdn', string>>): DistributionLogs {
  const requests = group(stack, 'Requests', logs.RetentionDays.ONE_MONTH);
  const downloads = group(stack, 'Downloads', logs.RetentionDays.ONE_WEEK);
  // Both logs share one resource policy, because an AWS account may have only ten of them in a Region.
  const policy = new logs.ResourcePolicy(stack, 'LogDelivery', {
    policyStatements: [
      new iam.PolicyStatement({
        principals: [new iam.ServicePrincipal('delivery.logs.amazonaws.com')],
        actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        resources: [requests.logGroupArn, downloads.logGroupArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
    ],
  });
  deliver(stack, 'Requests', { distributionId: ids.app, group: requests, fields: EDGE_LOG_FIELDS, policy });
  deliver(stack, 'Downloads', { distributionId: ids.cdn, group: downloads, fields: DOWNLOAD_LOG_FIELDS, policy });
  return { requests, downloads };
}

function group(stack: Stack, id: string, retention: logs.RetentionDays): logs.LogGroup {
  return new logs.LogGroup(stack, id, { retention, removalPolicy: RemovalPolicy.DESTROY });
}

interface Delivery {
  readonly distributionId: string;
  readonly group: logs.LogGroup;
  readonly fields: readonly string[];
  readonly policy: logs.ResourcePolicy;
}

function deliver(stack: Stack, id: string, { distributionId, group, fields, policy }: Delivery): void {
  const source = new logs.CfnDeliverySource(stack, `${id}Source`, {
    // A source cannot be changed to another distribution, and a distribution can have only one source. So the name follows from the
    // distribution alone: with a new distribution CloudFormation makes a new source, and with the same one it keeps the source.
    name: `access-log-${distributionId}`,
    logType: 'ACCESS_LOGS',
    resourceArn: `arn:${Aws.PARTITION}:cloudfront::${Aws.ACCOUNT_ID}:distribution/${distributionId}`,
  });
  const destination = new logs.CfnDeliveryDestination(stack, `${id}Destination`, {
    name: `${stack.stackName}-${id.toLowerCase()}`, // unique in the account
    destinationResourceArn: group.logGroupArn,
    outputFormat: 'json',
  });
  const delivery = new logs.CfnDelivery(stack, `${id}Delivery`, {
    deliverySourceName: source.name,
    deliveryDestinationArn: destination.attrArn,
    recordFields: [...fields],
  });
  delivery.node.addDependency(source, policy);
}
