/**
 * The metrics of AWS services that our alarms use, with all dimensions that each needs. AWS writes them, not our code, so no test can
 * check them against what is written. These lists are copied from AWS's documentation.
 */
export const PUBLISHED_METRICS: Readonly<Record<string, { readonly [metric: string]: readonly string[] }>> = {
  // API Gateway Developer Guide, "Amazon API Gateway dimensions and metrics".
  'AWS/ApiGateway': { '5XXError': ['ApiName'], Count: ['ApiName'], IntegrationLatency: ['ApiName'] },
  // CloudFront Developer Guide, "Types of metrics for CloudFront".
  'AWS/CloudFront': {
    '5xxErrorRate': ['DistributionId', 'Region'],
    BytesDownloaded: ['DistributionId', 'Region'],
    Requests: ['DistributionId', 'Region'],
  },
  // DynamoDB Developer Guide, "DynamoDB metrics and dimensions".
  'AWS/DynamoDB': {
    ReadThrottleEvents: ['TableName', 'GlobalSecondaryIndexName?'],
    WriteThrottleEvents: ['TableName', 'GlobalSecondaryIndexName?'],
  },
  // Lambda Developer Guide, "Types of metrics for Lambda functions" and "Monitoring concurrency".
  'AWS/Lambda': { Invocations: ['FunctionName'], ClaimedAccountConcurrency: [] },
  // S3 User Guide, "Metrics and dimensions", request metrics.
  'AWS/S3': { PutRequests: ['BucketName', 'FilterId'] },
  // SQS Developer Guide, "Available CloudWatch metrics for Amazon SQS".
  'AWS/SQS': { ApproximateNumberOfMessagesVisible: ['QueueName'] },
};
