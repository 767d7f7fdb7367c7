/** What the local service cannot tell, and was not measured on AWS: rounded up where in doubt. */
export const ASSUMPTIONS = {
  /** What Lambda bills an invocation, in milliseconds, unless named below. */
  billedMs: 100,
  billedMsOf: {
    // S3 copies 25 MiB meanwhile.
    CompleteUpload: 500,
    // It waits for the service.
    Canary: 3_000,
  } as Readonly<Record<string, number>>,
  /** Lambda's own lines of an invocation (START, END, REPORT), and what it puts before each of ours. */
  lambdaLogBytes: 500,
  /** The gateway's line of a request. */
  accessLogBytes: 330,
  /** CloudFront's line of a download, six fields as JSON. */
  downloadLogBytes: 200,
  /** CloudFront's line of a request to the app, eleven fields as JSON. */
  appLogBytes: 350,
  /** What CloudWatch counts of every line besides its text. Source: CloudWatch Logs, "PutLogEvents". */
  lineOverheadBytes: 26,
  /** What a stranger downloads without a pause: 1 Gbit/s. */
  strangerBytesPerSecond: 125_000_000,
  sweepsPerMonth: (365 / 12) * 24 * 60,
  canaryRunsPerMonth: (365 / 12) * 24 * 12,
} as const;
