/**
 * The metrics of AWS services that our alarms use, with all dimensions that each metric needs. AWS writes these metrics, so no test can
 * compare them with what our code writes. The lists are copied from AWS's documentation; those of S3 and SQS were looked up on 2026-11-22.
 */
export const PUBLISHED_METRICS: Readonly<Record<string, { readonly [metric: string]: readonly string[] }>> = {
  // API Gateway Developer Guide, "Amazon API Gateway dimensions and metrics".
  'AWS/ApiGateway': { '5XXError': ['ApiName'], Count: ['ApiName'] },
  // CloudFront Developer Guide, "Types of metrics for CloudFront".
  'AWS/CloudFront': {
    '5xxErrorRate': ['DistributionId', 'Region'],
    BytesDownloaded: ['DistributionId', 'Region'],
    Requests: ['DistributionId', 'Region'],
  },
  // Lambda Developer Guide, "Types of metrics for Lambda functions" and "Monitoring concurrency".
  'AWS/Lambda': { Invocations: ['FunctionName'], ClaimedAccountConcurrency: [] },
  // S3 User Guide, "Metrics and dimensions", "Amazon S3 request metrics in CloudWatch": `FilterId` is the id of the bucket's configuration.
  // https://docs.aws.amazon.com/AmazonS3/latest/userguide/metrics-dimensions.html
  'AWS/S3': { PutRequests: ['BucketName', 'FilterId'] },
  // SQS Developer Guide, "Available CloudWatch metrics for Amazon SQS": `QueueName` is the only dimension.
  // https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
  'AWS/SQS': { ApproximateNumberOfMessagesVisible: ['QueueName'] },
};
