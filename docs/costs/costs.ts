import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ASSUMPTIONS } from './assumptions.ts';
import { PRICES } from './prices.ts';
import { METERED_REQUESTS, type Metered, type MeteredRequest, type Use } from './use.ts';

/** A cost in dollars, by the service of AWS that charges it. */
export interface Cost {
  readonly gateway: number;
  /** Undefined when the streaming server takes part: no price of Web Functions could be found. */
  readonly lambda: number | undefined;
  readonly dynamoDb: number;
  /** Requests to S3, and the events that the bucket sends. */
  readonly s3: number;
  readonly cloudFront: number;
  readonly firewall: number;
  readonly logs: number;
}

const GB = 1e9;
/** The streaming server. It has no gateway in front, and AWS bills it by the time that its processor works. */
const WEB_FUNCTION = 'UploadStream';

export const METERED = JSON.parse(readFileSync(join(import.meta.dirname, 'metered.json'), 'utf8')) as Metered;

/** The cost of a number of units, in dollars. */
export function costOf(price: keyof typeof PRICES, units: number): number {
  const { usd, per } = PRICES[price];
  return (units / per) * usd;
}

/** The cost of a number of requests of one kind. */
export function costOfRequests(name: MeteredRequest, count: number): Cost {
  const use = METERED.requests[name];
  return {
    gateway: costOf('gatewayRequest', gatewayRequests(use) * count),
    lambda: WEB_FUNCTION in use.invocations ? undefined : lambdaCost(name, use) * count,
    dynamoDb: costOf('readUnit', use.readUnits * count) + costOf('writeUnit', use.writeUnits * count),
    s3:
      costOf('objectWrite', use.s3Writes * count) +
      costOf('objectRead', use.s3Reads * count) +
      costOf('event', use.events * count),
    cloudFront: edgeCost(name, use) * count,
    firewall: costOf('firewallRequest', edgeRequests(name, use) * count),
    logs: costOf('logTaken', ((logBytes(use) + edgeLogBytes(name, use)) * count) / GB),
  };
}

/** The sum of the parts that are known. */
export const totalOf = (cost: Cost): number => Object.values(cost).reduce<number>((sum, part) => sum + (part ?? 0), 0);

const gatewayRequests = ({ apiRequests, invocations }: Use) => apiRequests - (invocations[WEB_FUNCTION] ?? 0);

function lambdaCost(request: MeteredRequest, { invocations }: Use): number {
  const { billedMsOf, billedMs } = ASSUMPTIONS;
  return Object.entries(invocations).reduce((sum, [name, count]) => {
    const memoryMb = METERED.monthlyResources.memoryMb[name];
    if (memoryMb === undefined) throw new Error(`the record does not say how much memory the function ${name} has`);
    const seconds = (billedMsOf[request] ?? billedMsOf[name] ?? billedMs) / 1_000;
    return sum + costOf('invocation', count) + costOf('gigabyteSecond', (count * seconds * memoryMb) / 1_024);
  }, 0);
}

function edgeCost(name: MeteredRequest, use: Use): number {
  const { through } = METERED_REQUESTS[name];
  if (through === 'none') return 0;
  const requests = edgeRequests(name, use);
  const answers = use.apiRequests * ASSUMPTIONS.answerHeaderBytes + use.answerBytes;
  return (
    costOf('edgeRequest', requests) +
    costOf('edgeFunction', requests * METERED.monthlyResources.edgeFunctions[through]) +
    costOf('edgeToViewer', answers / GB)
  );
}

/** How many requests come through CloudFront and the firewall. */
function edgeRequests(name: MeteredRequest, { apiRequests }: Use): number {
  const { through } = METERED_REQUESTS[name];
  return { app: apiRequests, cdn: 1, none: 0 }[through];
}

/** The bytes of CloudFront's own log lines. */
function edgeLogBytes(name: MeteredRequest, use: Use): number {
  const { appLogBytes, downloadLogBytes } = ASSUMPTIONS;
  return { app: appLogBytes, cdn: downloadLogBytes, none: 0 }[METERED_REQUESTS[name].through] * edgeRequests(name, use);
}

function logBytes(use: Use): number {
  const invocations = Object.values(use.invocations).reduce((sum, count) => sum + count, 0);
  const { lambdaLogBytes, accessLogBytes, lineOverheadBytes } = ASSUMPTIONS;
  const ours = use.logBytes + use.logLines * lineOverheadBytes;
  return ours + invocations * lambdaLogBytes + gatewayRequests(use) * accessLogBytes;
}
