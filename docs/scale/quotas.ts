/** When the quotas were looked up. */
export const LOOKED_UP = '2026-11-26';

interface Quota {
  readonly amount: number;
  readonly what: string;
  readonly page: string;
  /** Where it can be raised, or why it need not be. */
  readonly knob: string;
}

/** The quotas of AWS that bound the service, as AWS publishes them for a new account. None was tried on AWS. */
export const QUOTAS = {
  gateway: {
    amount: 10_000,
    what: 'requests a second to all APIs of an account in a Region (2,500 in newer Regions)',
    page: 'https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html',
    knob: 'quota L-8A5B8E43 of API Gateway',
  },
  concurrency: {
    amount: 1_000,
    what: 'executions of functions at the same time, in an account and Region (a new account may have 10)',
    page: 'https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html',
    knob: 'quota L-B99A9384 of Lambda',
  },
  table: {
    amount: 40_000,
    what: 'write units a second of one on-demand table',
    page: 'https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html',
    knob: 'quota of DynamoDB for the table',
  },
  newTable: {
    amount: 4_000,
    what: 'write units a second of a new on-demand table; twice the last peak after half an hour',
    page: 'https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html',
    knob: 'grow slowly, or warm the table',
  },
  partition: {
    amount: 1_000,
    what: 'write units a second of one partition or item of a table',
    page: 'https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html',
    knob: 'none',
  },
  prefix: {
    amount: 3_500,
    what: 'PUT, COPY, POST and DELETE requests a second of one partition of keys in S3, which divides under load within an hour',
    page: 'https://docs.aws.amazon.com/AmazonS3/latest/userguide/optimizing-performance.html',
    knob: 'grow slowly; keys are random, so they divide well',
  },
  events: {
    amount: 4_500,
    what: 'invocations of targets a second by EventBridge in eu-central-1; more are delayed',
    page: 'https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-quota.html',
    knob: 'quota of EventBridge',
  },
  edge: {
    amount: 250_000,
    what: 'requests a second of one distribution',
    page: 'https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/cloudfront-limits.html',
    knob: 'quota of CloudFront',
  },
} as const satisfies Record<string, Quota>;
