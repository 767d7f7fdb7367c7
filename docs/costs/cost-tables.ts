import { ROUTES } from '../../functions/routes.ts';
import { throttleOf } from '../../infra/constructs/gateway-stage.ts';
import { prod } from '../../infra/stages/prod.ts';
import { CONFIGURABLE_LIMITS, DELETED_BYTES_KEPT_DAYS, readLimits } from '../../shared/contract/limits.ts';
import { methodsOf } from '../../shared/contract/route.ts';
import type { Route } from '../../shared/route.ts';
import { ASSUMPTIONS } from './assumptions.ts';
import { type Cost, costOf, costOfRequests, METERED, totalOf } from './costs.ts';
import { LOOKED_UP, REGION } from './prices.ts';
import { METERED_REQUESTS, type MeteredRequest, SCHEDULED } from './use.ts';

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const MILLION = 1_000_000;
const PARTS = {
  gateway: 'API Gateway',
  lambda: 'Lambda (assumed)',
  dynamoDb: 'DynamoDB',
  s3: 'S3',
  cloudFront: 'CloudFront',
  firewall: 'Firewall',
  logs: 'Logs',
} as const satisfies Record<keyof Cost, string>;

/** A million of each kind of request. */
export function costsOfRequests(): Table {
  const shown = Object.entries(METERED_REQUESTS).filter(([name]) => !SCHEDULED.includes(name as MeteredRequest));
  return {
    head: ['A million', ...Object.values(PARTS), 'Together'],
    rows: shown.map(([name, { what }]) => {
      const cost = costOfRequests(name as MeteredRequest, MILLION);
      const parts = (Object.keys(PARTS) as (keyof Cost)[]).map((part) => dollars(cost[part]));
      return [what, ...parts, `${cost.lambda === undefined ? 'over ' : ''}**${dollars(totalOf(cost))}**`];
    }),
  };
}

/** What the first table is based on besides the metered units. */
export function basis(): string {
  const { billedMs, billedMsOf } = ASSUMPTIONS;
  const others = Object.entries(billedMsOf).map(
    ([name, ms]) => `${name === 'worstSearch' ? 'the dearest search' : name}: ${ms}`,
  );
  return `Prices of ${REGION}, looked up on ${LOOKED_UP}: first tier, no free tier. Assumed, not measured: Lambda bills ${billedMs} ms an invocation (${others.join(', ')}).`;
}

/** A month without a request. */
export function costsOfIdleMonth(): Table {
  const { alarmMetrics, compositeAlarms, dashboards, secrets, firewallRules } = METERED.monthlyResources;
  const sweeps = Math.round(ASSUMPTIONS.sweepsPerMonth);
  const runs = Math.round(ASSUMPTIONS.canaryRunsPerMonth);
  const { sweep, canary } = METERED.requests;
  const parts: [string, number][] = [
    [
      `Alarms: ${alarmMetrics} metrics in alarms, and ${compositeAlarms} composite alarms`,
      costOf('alarmMetric', alarmMetrics) + costOf('compositeAlarm', compositeAlarms),
    ],
    [`Dashboards: ${dashboards}`, costOf('dashboard', dashboards)],
    [`Secrets: ${secrets}`, costOf('secret', secrets)],
    [
      `The firewall of \`prod\`: 1 web ACL, ${firewallRules} rules`,
      costOf('firewall', 1) + costOf('firewallRule', firewallRules),
    ],
    [
      `Metrics that the sweeper and the canary write: ${sweep.metrics + canary.metrics}`,
      costOf('metric', sweep.metrics + canary.metrics),
    ],
    [`The sweeper: ${sweeps.toLocaleString('en-US')} runs`, totalOf(costOfRequests('sweep', sweeps))],
    [`The canary: ${runs.toLocaleString('en-US')} runs`, totalOf(costOfRequests('canary', runs))],
  ];
  const sum = parts.reduce((total, [, cost]) => total + cost, 0);
  return {
    head: ['What', 'A month'],
    rows: [...parts.map(([what, cost]) => [what, dollars(cost)]), ['**Together**', `**$${sum.toFixed(2)}**`]],
  };
}

export const DAY_MINUTES = 24 * 60;
const GB = 1e9;
export const DAYS_PER_MONTH = 365 / 12;

const { default: FILES, max: FILES_MAX } = CONFIGURABLE_LIMITS.FILE_COUNT_LIMIT;

/** The read units of a search, at worst. They are metered for the default number of files, and grow with this number. */
const unitsOfSearch = (files: number) => (METERED.requests.worstSearch.readUnits / FILES) * files;
const secondsOfSearch = (files: number) => unitsOfSearch(files) / ASSUMPTIONS.partitionReadUnits;

/** What a search costs at worst, by the number of files. */
export function costsOfWorstSearches(): Table {
  return {
    head: ['Files', 'Read units', 'Seconds', 'A million searches: DynamoDB'],
    rows: [FILES, MILLION, FILES_MAX].map((files) => [
      count(files),
      count(rounded(unitsOfSearch(files))),
      String(rounded(secondsOfSearch(files))),
      dollars(costOf('readUnit', unitsOfSearch(files) * MILLION)),
    ]),
  };
}

/** The sentence for the table of limits. */
export function worstSearch(): string {
  const search = (files: number) =>
    `${count(rounded(unitsOfSearch(files)))} read units and ${rounded(secondsOfSearch(files))} s among ${count(files)} files`;
  return `A search reads all names: at worst it takes ${search(FILES)}, and ${search(MILLION)}`;
}

/**
 * What one account, one stranger at one address, and strangers at any number of addresses can cost in a day. The last are stopped only by the
 * throttles of the gateway. This is with the default limits and the firewall of `prod`. An
 * account cannot read more than its partition gives, so it cannot make as many of the dearest searches as its limit of lists allows.
 */
export function costsOfWorstDays(): Table {
  const limits = readLimits({});
  const [uploads, lists, others] = [
    limits.RATE_LIMIT_UPLOADS_PER_MINUTE,
    limits.RATE_LIMIT_LISTS_PER_MINUTE,
    limits.RATE_LIMIT_REQUESTS_PER_MINUTE,
  ].map((perMinute) => perMinute * DAY_MINUTES) as [number, number, number];
  const { requests, downloads } = firewallPerDay();
  const bytes = limits.UPLOAD_BYTES_PER_DAY;
  const searches = Math.min(lists, Math.floor((DAY_MINUTES * 60) / secondsOfSearch(limits.FILE_COUNT_LIMIT)));
  const deleted = DELETED_BYTES_KEPT_DAYS * bytes;
  const read = ASSUMPTIONS.strangerBytesPerSecond * DAY_MINUTES * 60;
  const refused = requests - uploads - lists - others;
  const ofRequests = (name: MeteredRequest, count: number) => totalOf(costOfRequests(name, count));
  const account: Row[] = [
    ['direct uploads', count(uploads), ofRequests('direct', uploads)],
    [`searches among ${count(FILES)} files, at worst`, count(searches), ofRequests('worstSearch', searches)],
    ['other lists', count(lists - searches), ofRequests('list', lists - searches)],
    ['other requests (at the cost of lists of API keys)', count(others), ofRequests('keys', others)],
    ['refused by the limiter', count(refused), ofRequests('limited', refused)],
    ['bytes uploaded', gigabytes(bytes), costOf('edgeToOrigin', bytes / GB)],
    [
      `deleted bytes, stored for ${DELETED_BYTES_KEPT_DAYS} days`,
      gigabytes(deleted),
      costOf('objectStorage', deleted / GB / DAYS_PER_MONTH),
    ],
  ];
  const stranger: Row[] = [
    ['requests with an unknown key', count(requests), ofRequests('stranger', requests)],
    ['downloads, cached', count(downloads), ofRequests('downloadCached', downloads)],
    ['bytes downloaded at 1 Gbit/s', gigabytes(read), costOf('edgeToViewer', read / GB)],
  ];
  const logins = throttledPerDay([ROUTES.startLogin, ROUTES.finishLogin]);
  const all = throttledPerDay(Object.values(ROUTES));
  const strangers: Row[] = [
    ['logins, as many as the gateway admits', count(logins), ofRequests('limited', logins)],
    ['all other routes, as many as the gateway admits', count(all - logins), ofRequests('stranger', all - logins)],
  ];
  return {
    head: ['Who and what', 'In a day', 'Cost'],
    rows: [
      ...sumUp('One account', account),
      ...sumUp('One stranger', stranger),
      ...sumUp('Strangers at many addresses', strangers),
    ],
  };
}

type Row = [what: string, count: string, usd: number];

function sumUp(who: string, parts: readonly Row[]): string[][] {
  const sum = parts.reduce((total, [, , usd]) => total + usd, 0);
  const rows = parts.map(([what, amount, usd]) => [`${who}: ${what}`, amount, dollars(usd)]);
  return [...rows, [`**${who}, together**`, '', `**${dollars(sum)}**`]];
}

/** How many requests the gateway admits to these routes in a day, from all clients together. */
function throttledPerDay(routes: readonly Route[]): number {
  const perSecond = routes.reduce(
    (sum, route) => sum + methodsOf(route).length * throttleOf(route).throttlingRateLimit,
    0,
  );
  return perSecond * DAY_MINUTES * 60;
}

/** How many requests the firewall admits from one address in a day. The limits of the firewall are for five minutes. */
function firewallPerDay(): { requests: number; downloads: number } {
  const { firewall } = prod;
  if (typeof firewall !== 'object' || !('requests' in firewall))
    throw new Error('the stage prod has no firewall of ours');
  const times = DAY_MINUTES / 5;
  return { requests: firewall.requests * times, downloads: firewall.downloads * times };
}

const count = (amount: number) => amount.toLocaleString('en-US');
const gigabytes = (bytes: number) => `${count(Math.round(bytes / GB))} GB`;

/** Storage, transfer, logs and metrics, which are charged by the amount. */
export function costsByAmount(): Table {
  const rows: [string, number, string][] = [
    ['Storage of files (also for a week after their deletion)', costOf('objectStorage', 1), 'GB and month'],
    [
      'Storage of rows, with point-in-time recovery',
      costOf('tableStorage', 1) + costOf('tableRecovery', 1),
      'GB and month',
    ],
    ['Files sent to readers by the CDN', costOf('edgeToViewer', 1), 'GB'],
    ['Answers sent by the API', costOf('edgeToViewer', 1), 'GB'],
    ['Uploads by a form, from the edge to the service', costOf('edgeToOrigin', 1), 'GB'],
    ['Direct uploads, to S3', 0, 'GB'],
    ['Storage of logs (for a month)', costOf('logKept', 1), 'GB and month'],
    ['A metric of our own, in the hours in which it is written', costOf('metric', 1), 'metric and month'],
  ];
  return { head: ['What', 'Price', 'For one'], rows: rows.map(([what, usd, unit]) => [what, `$${usd}`, unit]) };
}

/** Two significant digits suffice for an estimate. */
const rounded = (amount: number) => Number(amount.toPrecision(2));

function dollars(amount: number | undefined): string {
  if (amount === undefined) return 'not known';
  if (amount === 0) return '–';
  const usd = rounded(amount);
  const decimals = usd >= 10 ? 0 : usd >= 0.1 ? 2 : 4;
  return `$${usd.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals })}`;
}
