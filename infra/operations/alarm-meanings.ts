const throttled = (what: 'reads' | 'writes') =>
  `DynamoDB refuses ${what} of our tables, or of an index, which holds up the writes of its table. Look first at "Throttles by table and index" on the dashboard: rate-limits or accounts mean one account that is very busy (see "Who is refused"), several tables a sudden growth that passes by itself, or the account's quota.`;

/**
 * Every alarm that tells somebody, by the last part of its name: what it means, and what to look at first. It is the
 * alarm's description, and its row in docs/operate.md.
 */
export const ALARM_MEANINGS = {
  Functions:
    'A function fails or is throttled, again and again. Look first at which: the alarms of the same prefix with "Function-", or "Errors and throttles by function" on the dashboard.',
  ApiServerErrors:
    'One answer of the API in a hundred is a 5xx. Look first at "Rejections by code" on the dashboard: internal_error is a defect (search the functions\' logs for level error), service_unavailable a dependency (look at the database alarms and GET /health), timeout a slow one.',
  ApiLatency:
    'One request of the API in a hundred takes five seconds or more, for a quarter of an hour. Look first at "Latency by route" on the dashboard: one route alone is a defect or an upload over a slow line; all of them are the database (throttles) or cold starts (throttles of functions).',
  LoginFailures:
    'People are sent back to the login page because the service or the identity provider fails. Such an answer is a redirect, so ApiServerErrors does not see it. Look first at the logs of the functions startLogin and finishLogin: a "request" of level error, or a "login refused" with the code unavailable, has the cause.',
  FailedEvents:
    'An event was given up: an arrived upload that was not settled, or a sweep that failed. Look first at a message in the queue: it names the function, the error and the request id. Nothing needs to be sent again (the sweeper gives the upload back, the client may complete it); delete the messages when the cause is known, which ends the alarm.',
  StreamingFailures:
    'The streaming server answers uploads with 5xx. Look first at the log group of the streaming stack for level error: S3 and the database are its only dependencies; lines that say "places were short" belong to StreamingSaturation.',
  StreamingSaturation:
    'Half of the places for large uploads are taken, minute after minute; when three quarters of those of a process are, slow uploads are cut. Look first at "Uploads by lane" and "Rejections by code" on the dashboard: with many uploads the service has grown (raise streamingEnvironments, and mind the quota of vCPUs for Web Functions); with few of them the places are held by slow clients (search the log group of the streaming stack for their account_id and suspend them), with many unauthorized by strangers (see the firewall).',
  DirectUploadRequests:
    'More PUTs of direct uploads come to the bucket than twenty accounts may begin. S3 charges for each, also for those that it refuses (412, 403). Look first at "Uploads by lane" on the dashboard: with as many direct uploads the service has grown, with far fewer somebody sends again and again to URLs that have taken their bytes; "Stopping direct uploads" in docs/operate.md says how to end that at once.',
  SweeperLag:
    'What uploads and deletions left unfinished waits for ten minutes, or the sweeper says nothing: storage stays charged for files that are none. Look first at the log of the function sweep: no lines mean that its schedule or its place among the functions is gone, errors say what fails; lines with much work mean more of it than a run can do.',
  SweeperFailures:
    'Rows or objects resist the sweeper for half an hour. Look first at the log of the function sweep for level error: each names the file and the cause. If it is always the same file, look at its row and its objects.',
  DatabaseReadThrottles: throttled('reads'),
  DatabaseWriteThrottles: throttled('writes'),
  DatabaseSystemErrors:
    'DynamoDB answers with errors of its own (HTTP 500). Look first at the AWS Health Dashboard of the Region; the service answers 503 meanwhile and recovers by itself, so then look at the sweeper.',
  AppServerErrors:
    'One answer in a hundred that viewers get from the app distribution, so from API and dashboard, is a 5xx. Look first at ApiServerErrors and StreamingFailures: if one of them is in alarm too, the cause is behind the edge and that alarm says more. Alone it is the edge, or its way to the API: ask for /health through it, and look at the execution errors of its function in the CloudFront console.',
  CdnServerErrors:
    "One download in a hundred is answered with a 5xx. Look first at the AWS Health Dashboard for S3 and CloudFront; if it began with a deployment, at the execution errors of the cdn distribution's two functions in the CloudFront console.",
} as const satisfies Record<string, string>;

export type AlarmName = keyof typeof ALARM_MEANINGS;
