import { API_KEYS_PER_ACCOUNT_MAX, CONFIGURABLE_LIMITS, PAGE_LIMIT_MAX } from '../../shared/contract/limits.ts';

/** What one request uses of AWS, with everything that it triggers. */
export interface Use {
  /** Requests to the API, all of which come through CloudFront. */
  readonly apiRequests: number;
  /** Lambda invocations by function; the streaming server is `UploadStream`. */
  readonly invocations: Readonly<Record<string, number>>;
  /** DynamoDB's request units. */
  readonly readUnits: number;
  readonly writeUnits: number;
  /** S3 requests by price: PUT, COPY, POST and LIST cost more than GET and the rest; DELETE and abort cost nothing. */
  readonly s3Writes: number;
  readonly s3Reads: number;
  /** Events that the bucket sends to EventBridge, whether a rule matches them or not. */
  readonly events: number;
  /** The bodies of the answers of the API. */
  readonly answerBytes: number;
  /** What the functions log; Lambda and the gateway add lines of their own. */
  readonly logLines: number;
  readonly logBytes: number;
  /** Metrics of our own that the request writes. */
  readonly metrics: number;
}

/** The resources of the template that cost something each month, used or not. Also the memory by which functions are billed. */
export interface MonthlyResources {
  readonly memoryMb: Readonly<Record<string, number>>;
  readonly alarmMetrics: number;
  readonly compositeAlarms: number;
  readonly dashboards: number;
  readonly secrets: number;
  /** The rules of the firewall of the stage `prod`. */
  readonly firewallRules: number;
  /** CloudFront functions that a request runs. */
  readonly edgeFunctions: { readonly app: number; readonly cdn: number };
}

/** docs/costs/metered.json. */
export interface Metered {
  readonly requests: Readonly<Record<MeteredRequest, Use>>;
  readonly monthlyResources: MonthlyResources;
}

/** The requests that are metered: how the tables name each, and the distribution that it comes through. */
export const METERED_REQUESTS = {
  inline: { what: 'Uploads of 100 KiB, by a form', through: 'app' },
  streaming: { what: 'Uploads of 25 MiB, by a form', through: 'app' },
  direct: {
    what: 'Direct uploads of 25 MiB (ticket, PUT, complete; the sweeper adds one write unit each)',
    through: 'app',
  },
  list: { what: 'Lists (50 of 1,000 files, the first page)', through: 'app' },
  search: { what: 'Searches among 1,000 files', through: 'app' },
  worstSearch: {
    what: `Searches among ${CONFIGURABLE_LIMITS.FILE_COUNT_LIMIT.default.toLocaleString('en-US')} files with the longest names, at worst (${PAGE_LIMIT_MAX} on the page)`,
    through: 'app',
  },
  keys: { what: `Lists of ${API_KEYS_PER_ACCOUNT_MAX} API keys with the longest names`, through: 'app' },
  remove: { what: 'Deletions (and seals: see below)', through: 'app' },
  downloadCached: { what: 'Downloads, cached at the edge', through: 'cdn' },
  downloadUncached: { what: 'Downloads, not cached', through: 'cdn' },
  stranger: { what: 'Refusals of a request with an unknown key (401)', through: 'app' },
  limited: { what: 'Refusals by the limiter (429)', through: 'app' },
  seal: {
    what: 'Seals of 64 names: one for 64 uploads, and one a day for 64 files of which some were deleted',
    through: 'none',
  },
  sweep: { what: 'Sweeps that find nothing to do', through: 'none' },
  canary: { what: 'Runs of the canary', through: 'app' },
} as const satisfies Record<string, { what: string; through: 'app' | 'cdn' | 'none' }>;

/** The metered requests that a schedule makes, also in an idle month. */
export const SCHEDULED: readonly MeteredRequest[] = ['sweep', 'canary'];

export type MeteredRequest = keyof typeof METERED_REQUESTS;
