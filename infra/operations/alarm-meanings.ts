const throttled = (what: 'reads' | 'writes') =>
  `DynamoDB refuses ${what} of our tables, or of an index; a throttled index also blocks the writes of its table. Look first at "Throttles by table and index" on the dashboard. rate-limits or accounts: one account is very busy (see "Who is refused"). Several tables: a sudden growth that ends by itself, or the quota of the AWS account.`;

/**
 * Every alarm that sends a notification, by the last part of its name: what it means, and what to look at first. The text is
 * the description of the alarm, and its row in docs/operate.md.
 */
export const ALARM_MEANINGS = {
  Functions:
    'A function fails or is throttled again and again. Look first at which one: see the alarms whose names continue with "Function-", or "Errors and throttles by function" on the dashboard.',
  ApiServerErrors:
    'At least one in a hundred answers of the API is a 5xx. Look first at "Rejections by code" on the dashboard. internal_error is a bug: search the logs of the functions for level error. service_unavailable is a dependency that fails: look at the database alarms and GET /health. timeout is a dependency that is slow.',
  ApiLatency:
    'For a quarter of an hour, at least one in a hundred API requests has taken five seconds or more. Look first at "Latency by route" on the dashboard. If only one route is slow, it is a bug or an upload over a slow connection. If all are slow, it is the database (throttles) or cold starts (throttles of functions).',
  LoginFailures:
    'Logins end at the login page because the service or the identity provider fails. Such an answer is a redirect, so ApiServerErrors does not count it. Look first at the logs of the functions startLogin and finishLogin: a "request" of level error, or a "login refused" with the code unavailable, has the cause.',
  FailedEvents:
    'An event failed at every attempt: an upload that arrived was not settled, or a sweep failed. Look first at a message in the queue: it names the function, the error and the request id. You do not have to send anything again (the client may still complete the upload, and the sweeper gives its room back). When you know the cause, delete the messages; that ends the alarm.',
  StreamingFailures:
    'The streaming server answers uploads with 5xx. Look first at the log group of the streaming stack, and search it for level error: S3 and the database are its only dependencies. Lines that say "places were short" belong to StreamingSaturation.',
  StreamingSaturation:
    'Half of the places for large uploads are taken, minute after minute. When three quarters of the places of a process are taken, slow uploads are cut. Look first at "Uploads by lane" and "Rejections by code" on the dashboard. Many uploads: the service has grown (raise streamingEnvironments, and mind the quota of vCPUs for Web Functions). Few uploads: slow clients hold the places (search the log group of the streaming stack for their account_id and suspend them). Many unauthorized: strangers hold them (see the firewall).',
  DirectUploadRequests:
    'The bucket receives more PUTs of direct uploads than twenty accounts may begin. S3 charges for each, even for those that it refuses (412, 403). Look first at "Uploads by lane" on the dashboard. If it shows as many direct uploads, the service has grown. If it shows far fewer, a client keeps sending to URLs that have taken their bytes; "Stopping direct uploads" in docs/operate.md says how to stop that at once.',
  SweeperLag:
    'Unfinished uploads and deletions have waited for ten minutes, or the sweeper does not report: accounts stay charged for files that do not exist. Look first at the log of the function sweep. If it has no lines, its schedule or its reserved concurrency is gone. If it has errors, they say what fails. If it reports much work, there is more than one run can do.',
  SweeperFailures:
    'The sweeper has failed at rows or objects for half an hour. Look first at the log of the function sweep, and search it for level error: each line names the file and the cause. If it is always the same file, look at its row and its objects.',
  DatabaseReadThrottles: throttled('reads'),
  DatabaseWriteThrottles: throttled('writes'),
  DatabaseSystemErrors:
    'DynamoDB answers with errors of its own (HTTP 500). Look first at the AWS Health Dashboard of the Region. The service answers 503 meanwhile and recovers by itself; look at the sweeper afterwards.',
  AppServerErrors:
    'At least one in a hundred answers that viewers get from the app distribution (API and dashboard) is a 5xx. Look first at ApiServerErrors and StreamingFailures: if one of them is in alarm too, the cause is behind the edge, and that alarm says more. Otherwise it is the edge or its connection to the API: request /health through it, and look at the execution errors of its function in the CloudFront console.',
  CdnServerErrors:
    'At least one in a hundred downloads is answered with a 5xx. Look first at the AWS Health Dashboard for S3 and CloudFront. If it began with a deployment, look at the execution errors of the two functions of the cdn distribution in the CloudFront console.',
} as const satisfies Record<string, string>;

export type AlarmName = keyof typeof ALARM_MEANINGS;
