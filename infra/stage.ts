import type { App } from 'aws-cdk-lib';

/** `prod` keeps its data when a stack goes; `dev` can be destroyed whole. */
export const STAGES = ['prod', 'dev'] as const;
export type StageName = (typeof STAGES)[number];

export const DEFAULT_STAGE: StageName = 'prod';

/**
 * The SSM parameter of a deployment from which `npm run admin` learns where its tables and its bucket are: the environment
 * of its stores, as JSON.
 */
export function operatorParameterName(stage: StageName): string {
  return `/file-hosting/${stage}/operator`;
}

/** What a rate-based rule takes. Source: AWS WAF API reference, "RateBasedStatement". */
const FIREWALL_REQUESTS = { from: 10, to: 2_000_000_000 };

/** What the operator chose by context (`-c stage=dev`, `-c streamingUploads=false`, `-c originSecretSlot=b`). */
export interface StageConfig {
  readonly name: StageName;
  /** False: uploads over 4 MiB must be direct; such a deployment does not hold the whole contract. */
  readonly streamingUploads: boolean;
  /**
   * False: the sweeper has no place of its own. For a new account, whose quota of functions at once may be so small (10)
   * that Lambda refuses to reserve any of it.
   */
  readonly reserveConcurrency: boolean;
  /** Who is told of alarms, after confirming a mail; absent: whoever subscribes to the topic. */
  readonly alarmEmail: string | undefined;
  /** The slot of the origin secret that the edge sends: to rotate it, fill the other one and then name it here. */
  readonly originSecretSlot: 'a' | 'b';
  /** Absent: the distributions have CloudFront's names, which are sites of their own (Public Suffix List). */
  readonly appDomain: CustomDomain | undefined;
  /** Under another registrable name than the app's, so that no upload shares a site with the dashboard's cookie. */
  readonly cdnDomain: CustomDomain | undefined;
  /** A web ACL of scope CLOUDFRONT, for both distributions. */
  readonly webAclArn: string | undefined;
  /**
   * From how many requests in five minutes on a firewall of our own refuses an address, on the app distribution. Absent: no
   * firewall, because AWS charges for one by the month, idle or not; our own limiter is there without it.
   */
  readonly firewallRequestsPerFiveMinutes: number | undefined;
  /** Which regions of CloudFront serve: all, or the cheaper ones only. */
  readonly priceClass: 'all' | '200' | '100';
}

export interface CustomDomain {
  readonly name: string;
  /** Of ACM in us-east-1, where CloudFront looks for certificates. */
  readonly certificateArn: string;
}

/** @throws Error naming the context value that is not one of those it may be. */
export function readStageConfig(app: App): StageConfig {
  const webAclArn = matching(app, 'webAclArn', /^arn:aws:wafv2:us-east-1:\d{12}:global\/webacl\/\S+$/);
  const firewallRequestsPerFiveMinutes = wholeNumber(app, 'firewallRequestsPerFiveMinutes', FIREWALL_REQUESTS);
  if (webAclArn !== undefined && firewallRequestsPerFiveMinutes !== undefined) {
    throw new Error(
      'context webAclArn and firewallRequestsPerFiveMinutes exclude each other: a distribution has one web ACL',
    );
  }
  return {
    name: oneOf(app, 'stage', STAGES, DEFAULT_STAGE),
    streamingUploads: oneOf(app, 'streamingUploads', ['true', 'false'], 'true') === 'true',
    reserveConcurrency: oneOf(app, 'reserveConcurrency', ['true', 'false'], 'true') === 'true',
    alarmEmail: matching(app, 'alarmEmail', /^[^\s@]+@[^\s@]+$/),
    originSecretSlot: oneOf(app, 'originSecretSlot', ['a', 'b'], 'a'),
    appDomain: domain(app, 'app'),
    cdnDomain: domain(app, 'cdn'),
    webAclArn,
    firewallRequestsPerFiveMinutes,
    priceClass: oneOf(app, 'priceClass', ['all', '200', '100'], 'all'),
  };
}

function oneOf<Value extends string>(app: App, name: string, values: readonly Value[], fallback: Value): Value {
  const given = String(app.node.tryGetContext(name) ?? fallback);
  const value = values.find((candidate) => candidate === given);
  if (value === undefined) throw new Error(`context ${name} must be ${values.join(' or ')}, not "${given}"`);
  return value;
}

function wholeNumber(app: App, name: string, { from, to }: { from: number; to: number }): number | undefined {
  const given: unknown = app.node.tryGetContext(name);
  if (given === undefined) return undefined;
  const value = /^\d+$/.test(String(given)) ? Number(given) : Number.NaN;
  if (value >= from && value <= to) return value;
  throw new Error(`context ${name} must be a whole number from ${from} to ${to}, not "${given}"`);
}

function domain(app: App, which: 'app' | 'cdn'): CustomDomain | undefined {
  const [nameKey, certificateKey] = [`${which}Domain`, `${which}CertificateArn`];
  const name = matching(app, nameKey, /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z0-9-]{2,}$/);
  const certificateArn = matching(app, certificateKey, /^arn:aws:acm:us-east-1:\d{12}:certificate\/\S+$/);
  if (name === undefined && certificateArn === undefined) return undefined;
  if (name !== undefined && certificateArn !== undefined) return { name, certificateArn };
  throw new Error(`context ${nameKey} and ${certificateKey} go together`);
}

function matching(app: App, name: string, pattern: RegExp): string | undefined {
  const given: unknown = app.node.tryGetContext(name);
  if (given === undefined) return undefined;
  if (typeof given === 'string' && pattern.test(given)) return given;
  throw new Error(`context ${name} must match ${pattern.source}, not "${given}"`);
}
