/**
 * How urgent an alarm is. A `page` wakes a person: users cannot use the service now, and it will not recover by itself. A `ticket`
 * waits for a working day: the problem ends by itself, or leaves time.
 */
export type Urgency = 'page' | 'ticket';

interface ListedAlarm {
  readonly urgency: Urgency;
  /** What it means when the alarm starts. */
  readonly meaning: string;
}

/** This many accounts may upload at their rate limit without an alarm. */
export const BUSY_ACCOUNTS = 20;

/**
 * Every alarm that notifies a topic, by the part of its name that follows the stage. docs/alarms.md has a section for each: what to
 * look at, and how to mend it.
 */
export const ALARMS = {
  InternalError: {
    urgency: 'page',
    meaning: 'A request was answered `internal_error`: the service has a bug, or its configuration is wrong.',
  },
  CanaryFailing: {
    urgency: 'page',
    meaning:
      'The canary, a client of our own that tries the service every five minutes, fails or does not run. People probably cannot use the service.',
  },
  ApiBudgetFast: {
    urgency: 'page',
    meaning: 'The API answers so many requests with 5xx that the error budget of a month would last about two days.',
  },
  ApiBudgetSlow: {
    urgency: 'ticket',
    meaning: 'The API answers so many requests with 5xx that the error budget of a month would last at most five days.',
  },
  LoginFailures: {
    urgency: 'page',
    meaning:
      'At least a tenth of the steps of logins fail because of the service or the identity provider. A browser gets a redirect, so no 5xx counts them.',
  },
  StreamingFailures: {
    urgency: 'page',
    meaning: 'At least a tenth of the uploads over 4 MiB by a form are answered 5xx, which no gateway counts.',
  },
  CdnServerErrors: {
    urgency: 'page',
    meaning: 'So many downloads are answered with 5xx that the error budget of a month would last about two days.',
  },
  StreamingSaturation: {
    urgency: 'ticket',
    meaning:
      'Half of the places for large uploads are taken, minute after minute. When more than three quarters of the places of a process are taken, refused bodies and slow uploads are cut.',
  },
  Concurrency: {
    urgency: 'ticket',
    meaning:
      'The functions of the AWS account in this Region use four fifths of the quota for executions at the same time. Beyond the quota, requests are answered 503.',
  },
  GatewayThrottles: {
    urgency: 'ticket',
    meaning:
      'The gateway refuses requests with 429, because all clients together send more to one route than that route admits. Clients within their own limits are refused as well.',
  },
  LoginThrottles: {
    urgency: 'page',
    meaning:
      'For some minutes, the gateway refuses logins with 429: all clients together begin more than 50 logins a second. A few strangers can do that, and then almost nobody can log in. Sessions and keys go on working.',
  },
  FailedEvents: {
    urgency: 'ticket',
    meaning:
      'An event failed at every attempt: an upload that arrived was not settled, or a sweep failed. No data is lost.',
  },
  SweeperLag: {
    urgency: 'ticket',
    meaning:
      'Work has waited for the sweeper for ten minutes, or the sweeper does not report. Accounts may stay charged for files that do not exist, and searches may read more.',
  },
  SweeperFailures: {
    urgency: 'ticket',
    meaning: 'The sweeper has failed at rows or objects for half an hour.',
  },
  DirectUploadRequests: {
    urgency: 'ticket',
    meaning: `The bucket receives more PUTs of direct uploads than ${BUSY_ACCOUNTS} accounts together may begin under the rate limit. S3 charges for each PUT, even for those that it refuses.`,
  },
  TrafficCost: {
    urgency: 'ticket',
    meaning:
      'Within one hour, the requests and bytes of both distributions have cost a twentieth of the monthly budget.',
  },
} as const satisfies Record<string, ListedAlarm>;

export type AlarmName = keyof typeof ALARMS;

/** The description of an alarm, which AWS puts into the mail about it. */
export function descriptionOf(name: AlarmName): string {
  return `${ALARMS[name].meaning} What to look at, and how to mend it: docs/alarms.md, ${name}`;
}
