/** Figures that the local service cannot measure and that were not measured on AWS. They are rounded up where in doubt. */
export const ASSUMPTIONS = {
  /** The time that Lambda bills for an invocation, in milliseconds, unless the function or the request is in `billedMsOf`. */
  billedMs: 100,
  billedMsOf: {
    // S3 copies 25 MiB meanwhile.
    CompleteUpload: 500,
    // It reads 130 times when there is nothing to do.
    Sweep: 300,
    // The canary waits for the answers of the service.
    Canary: 3_000,
    // The partition gives the units of one search in a second, and two searches a second are allowed.
    worstSearch: 2_000,
  } as Readonly<Record<string, number>>,
  /** Lambda's own lines of an invocation (START, END, REPORT), and the text that it puts before each of our lines. */
  lambdaLogBytes: 500,
  /** The gateway's line of a request. */
  accessLogBytes: 330,
  /** CloudFront's line of a download, seven fields as JSON. */
  downloadLogBytes: 200,
  /** CloudFront's line of a request to the app, eleven fields as JSON. */
  appLogBytes: 350,
  /** The headers of an answer of the API. */
  answerHeaderBytes: 1_000,
  /** Read units a second that one partition of a table gives. Source: DynamoDB, "Burst and adaptive capacity". */
  partitionReadUnits: 3_000,
  /** The bytes that CloudWatch counts for every line besides its text. Source: CloudWatch Logs, "PutLogEvents". */
  lineOverheadBytes: 26,
  /** The speed at which a stranger downloads without a pause: 1 Gbit/s. */
  strangerBytesPerSecond: 125_000_000,
  /**
   * What the simulation of the sweeper (test/shared/files/scale.soak.ts) assumes, in milliseconds. The processor time of a call is a third of that
   * of a warm getFile, which makes three calls (docs/measured.md).
   */
  sweeping: {
    databaseMs: 5,
    storageMs: 30,
    callCpuMs: 1.1,
    pageCpuMs: 15,
    /** How long a sweep begins new work: `MARGIN_MS` of functions/background/sweep.ts before its function ends. */
    sweepMs: 40_000,
  },
  sweepsPerMonth: (365 / 12) * 24 * 60,
  canaryRunsPerMonth: (365 / 12) * 24 * 12,
} as const;
