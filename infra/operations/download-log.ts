import { Aws, RemovalPolicy, type Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as logs from 'aws-cdk-lib/aws-logs';
import { addOutput } from '../settings/outputs.ts';

/**
 * The fields of a line. There is no address, header, query or cookie: a line says which link was read and how many bytes that
 * took, not by whom. Source: CloudFront Developer Guide, "Standard logging (v2)", "Log file fields".
 */
const FIELDS = ['date', 'time', 'cs-method', 'cs-uri-stem', 'sc-status', 'sc-bytes', 'x-edge-result-type'];

/**
 * Adds a log of the downloads of a distribution, kept for a week, by which an operator finds a hot link in one query (decision
 * 0027). CloudFront delivers its logs to CloudWatch only in us-east-1.
 * @param name  is part of names that are unique in the account.
 */
export function addDownloadLog(stack: Stack, { name, distributionId }: { name: string; distributionId: string }): void {
  const group = new logs.LogGroup(stack, 'Downloads', {
    retention: logs.RetentionDays.ONE_WEEK,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  const policy = group.addToResourcePolicy(
    new iam.PolicyStatement({
      principals: [new iam.ServicePrincipal('delivery.logs.amazonaws.com')],
      actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
      resources: [group.logGroupArn],
      conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
    }),
  );
  const source = new logs.CfnDeliverySource(stack, 'DownloadsSource', {
    name: `${name}-downloads`,
    logType: 'ACCESS_LOGS',
    resourceArn: `arn:${Aws.PARTITION}:cloudfront::${Aws.ACCOUNT_ID}:distribution/${distributionId}`,
  });
  const destination = new logs.CfnDeliveryDestination(stack, 'DownloadsDestination', {
    name: `${name}-downloads`,
    destinationResourceArn: group.logGroupArn,
    outputFormat: 'json',
  });
  const delivery = new logs.CfnDelivery(stack, 'DownloadsDelivery', {
    deliverySourceName: source.name,
    deliveryDestinationArn: destination.attrArn,
    recordFields: FIELDS,
  });
  delivery.node.addDependency(source);
  if (policy.policyDependable) delivery.node.addDependency(policy.policyDependable);
  addOutput(stack, 'DownloadLog', group.logGroupName);
}
