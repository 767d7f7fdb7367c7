import type { App } from 'aws-cdk-lib';
import { TABLES, type TableName } from '../../shared/aws/tables.ts';
import { STREAMING_PLACES_PER_ENVIRONMENT } from '../../shared/limits.ts';
import { type Environment, type OperatorVariables, readOperatorVariables } from './operator-variables.ts';

/** `prod` keeps its data when a stack is deleted; `dev` can be deleted completely. */
export const STAGES = ['prod', 'dev'] as const;
export type StageName = (typeof STAGES)[number];

export const DEFAULT_STAGE: StageName = STAGES[0];

/**
 * Returns the name of the SSM parameter that holds the environment of a deployment's stores as JSON. `npm run admin` reads the
 * names of the tables and the bucket there.
 */
export function operatorParameterName(stage: StageName): string {
  return `/file-hosting/${stage}/operator`;
}

export interface Context {
  /** The allowed values; the first is the default. */
  readonly values?: readonly string[];
  /** Or the pattern that a text must match; it has no default. */
  readonly pattern?: RegExp;
  /** Or the range that a whole number must be in; it may have a default. */
  readonly range?: { readonly from: number; readonly to: number; readonly default?: number };
  readonly meaning: string;
}

const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z0-9-]{2,}$/;
/** CloudFront takes certificates only from us-east-1. */
const CERTIFICATE_ARN = /^arn:aws:acm:us-east-1:\d{12}:certificate\/\S+$/;

/** The operator's settings by context (`-c stage=dev`). The table in docs/operate.md is generated from this object. */
export const CONTEXTS = {
  stage: {
    values: STAGES,
    meaning: '`prod` keeps its data when its stacks are deleted; `dev` can be destroyed completely',
  },
  streamingUploads: {
    values: ['true', 'false'],
    meaning: '`false`: the streaming function is not deployed; multipart bodies over 4 MiB are refused with 413',
  },
  streamingEnvironments: {
    // Source: Lambda API reference, "ScalingConfig" of a Web Function's endpoint.
    range: { from: 2, to: 10_000, default: 20 },
    meaning: `The maximum number of environments of the streaming function; each has 2 vCPUs and serves ${STREAMING_PLACES_PER_ENVIRONMENT} requests at once`,
  },
  reserveConcurrency: {
    values: ['true', 'false'],
    meaning:
      '`false`: no concurrency is reserved for the sweeper and the function that settles direct uploads (for a new AWS account)',
  },
  alarmEmail: {
    pattern: /^[^\s@]+@[^\s@]+$/,
    meaning:
      'The e-mail address that gets alarms, after its owner has confirmed a mail from AWS; without it, only subscribers of `AlarmTopic` get them',
  },
  originSecretSlot: { values: ['a', 'b'], meaning: 'The slot of the origin secret that the edge sends' },
  appDomain: {
    pattern: DOMAIN,
    meaning: 'Your own domain name for API and dashboard, instead of one under cloudfront.net',
  },
  appCertificateArn: { pattern: CERTIFICATE_ARN, meaning: 'The ARN of its ACM certificate in us-east-1' },
  cdnDomain: {
    pattern: DOMAIN,
    meaning: 'Your own domain name for the links, under another registrable domain than that of the app',
  },
  cdnCertificateArn: { pattern: CERTIFICATE_ARN, meaning: 'The ARN of its ACM certificate in us-east-1' },
  webAclArn: {
    pattern: /^arn:aws:wafv2:us-east-1:\d{12}:global\/webacl\/\S+$/,
    meaning: 'The ARN of a web ACL of scope CLOUDFRONT, for both distributions',
  },
  firewallRequestsPerFiveMinutes: {
    // Source: AWS WAF API reference, "RateBasedStatement".
    range: { from: 10, to: 2_000_000_000 },
    meaning:
      'Adds a firewall in front of the app distribution, which refuses an address that sends more than this number of requests in five minutes',
  },
  priceClass: {
    values: ['all', '200', '100'],
    meaning: 'The locations of CloudFront that serve: all, or only those in its cheaper price classes',
  },
} as const satisfies Record<string, Context>;

type ContextName = keyof typeof CONTEXTS;
type ChoiceName = {
  [Name in ContextName]: (typeof CONTEXTS)[Name] extends { values: unknown } ? Name : never;
}[ContextName];
type TextName = {
  [Name in ContextName]: (typeof CONTEXTS)[Name] extends { pattern: unknown } ? Name : never;
}[ContextName];
type NumberName = {
  [Name in ContextName]: (typeof CONTEXTS)[Name] extends { range: unknown } ? Name : never;
}[ContextName];
type ChoiceOf<Name extends ChoiceName> = (typeof CONTEXTS)[Name]['values'][number];

/** Context of the CDK CLI itself; its other names contain a colon, a slash or an @. */
const CONTEXT_OF_CDK = ['cli-telemetry', 'acknowledged-issue-numbers'];

/** The operator's settings, by context (see {@link CONTEXTS}) and by the environment. */
export interface StageConfig extends OperatorVariables {
  readonly name: StageName;
  /** False: the deployment does not fulfil the whole contract. */
  readonly streamingUploads: boolean;
  readonly streamingEnvironments: number;
  /** False for an AWS account whose concurrency quota is so small (10) that Lambda refuses to reserve any of it. */
  readonly reserveConcurrency: boolean;
  readonly alarmEmail: string | undefined;
  readonly originSecretSlot: ChoiceOf<'originSecretSlot'>;
  /** Absent: the distributions have names under cloudfront.net, which are separate sites (Public Suffix List). */
  readonly appDomain: CustomDomain | undefined;
  /** It is under another registrable domain than the app's, so that no upload shares a site with the dashboard's cookie. */
  readonly cdnDomain: CustomDomain | undefined;
  readonly webAclArn: string | undefined;
  /** Absent: there is no firewall. AWS charges for it by the month, even without traffic; our rate limiter does not need it. */
  readonly firewallRequestsPerFiveMinutes: number | undefined;
  readonly priceClass: ChoiceOf<'priceClass'>;
  /** Existing (restored) tables that are used instead of those that the stack would create. */
  readonly existingTables: Readonly<Partial<Record<TableName, string>>>;
}

export interface CustomDomain {
  readonly name: string;
  readonly certificateArn: string;
}

/** The context that names an existing table: `-c filesTable=FileHosting-prod-files-restored`. */
export function existingTableKey(table: TableName): string {
  return `${table}Table`;
}

const TABLE_NAMES = Object.keys(TABLES) as TableName[];
const CONTEXT_NAMES = [...Object.keys(CONTEXTS), ...TABLE_NAMES.map(existingTableKey)];

/**
 * Reads the operator's settings.
 * @throws Error naming a context that npm took for its own option, that is unknown, or whose value is invalid; or an unknown
 *   or invalid variable.
 */
export function readStageConfig(app: App, environment: Environment): StageConfig {
  rejectSwallowed(environment.npm_config_call);
  rejectUnknown(app);
  const webAclArn = given(app, 'webAclArn');
  const firewallRequestsPerFiveMinutes = wholeNumber(app, 'firewallRequestsPerFiveMinutes');
  if (webAclArn !== undefined && firewallRequestsPerFiveMinutes !== undefined) {
    throw new Error(
      'context webAclArn and firewallRequestsPerFiveMinutes exclude each other: a distribution has one web ACL',
    );
  }
  const name = chosen(app, 'stage');
  return {
    name,
    streamingUploads: chosen(app, 'streamingUploads') === 'true',
    streamingEnvironments: wholeNumber(app, 'streamingEnvironments') ?? CONTEXTS.streamingEnvironments.range.default,
    reserveConcurrency: chosen(app, 'reserveConcurrency') === 'true',
    alarmEmail: given(app, 'alarmEmail'),
    originSecretSlot: chosen(app, 'originSecretSlot'),
    appDomain: domain(app, 'app'),
    cdnDomain: domain(app, 'cdn'),
    webAclArn,
    firewallRequestsPerFiveMinutes,
    priceClass: chosen(app, 'priceClass'),
    existingTables: existingTables(app, name),
    ...readOperatorVariables(environment),
  };
}

/** npm takes a `-c` before `--` as its own option: `npm run deploy -c stage=dev` would deploy `prod`. */
function rejectSwallowed(call: string | undefined): void {
  if (call)
    throw new Error(`npm kept "-c ${call}" for itself: write -- before it, as in "npm run deploy -- -c ${call}"`);
}

/** Otherwise a misspelt name would silently leave the default in force. */
function rejectUnknown(app: App): void {
  const known = [...CONTEXT_NAMES, ...CONTEXT_OF_CDK];
  const names = Object.keys(app.node.getAllContext()).filter((name) => /^[\w-]+$/.test(name));
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new Error(`there is no context "${unknown}"; there are ${CONTEXT_NAMES.join(', ')}`);
}

/** Requires the prefix of CloudFormation's generated names, so that a stage cannot use another stage's tables by mistake. */
function existingTables(app: App, stage: StageName): StageConfig['existingTables'] {
  const pattern = new RegExp(`^FileHosting-${stage}-[\\w.-]{1,200}$`);
  return Object.fromEntries(
    TABLE_NAMES.flatMap((table) => {
      const name = matching(app, existingTableKey(table), pattern);
      return name === undefined ? [] : [[table, name]];
    }),
  );
}

function chosen<Name extends ChoiceName>(app: App, name: Name): ChoiceOf<Name> {
  const values: readonly ChoiceOf<Name>[] = CONTEXTS[name].values;
  const text = String(app.node.tryGetContext(name) ?? values[0]);
  const value = values.find((candidate) => candidate === text);
  if (value === undefined) throw new Error(`context ${name} must be ${values.join(' or ')}, not "${text}"`);
  return value;
}

function wholeNumber(app: App, name: NumberName): number | undefined {
  const { from, to } = CONTEXTS[name].range;
  const text: unknown = app.node.tryGetContext(name);
  if (text === undefined) return undefined;
  const value = /^\d+$/.test(String(text)) ? Number(text) : Number.NaN;
  if (value >= from && value <= to) return value;
  throw new Error(`context ${name} must be a whole number from ${from} to ${to}, not "${text}"`);
}

function domain(app: App, which: 'app' | 'cdn'): CustomDomain | undefined {
  const [nameKey, certificateKey] = [`${which}Domain`, `${which}CertificateArn`] as const;
  const [name, certificateArn] = [given(app, nameKey), given(app, certificateKey)];
  if (name === undefined && certificateArn === undefined) return undefined;
  if (name !== undefined && certificateArn !== undefined) return { name, certificateArn };
  throw new Error(`context ${nameKey} and ${certificateKey} go together`);
}

function given(app: App, name: TextName): string | undefined {
  return matching(app, name, CONTEXTS[name].pattern);
}

function matching(app: App, name: string, pattern: RegExp): string | undefined {
  const text: unknown = app.node.tryGetContext(name);
  if (text === undefined) return undefined;
  if (typeof text === 'string' && pattern.test(text)) return text;
  throw new Error(`context ${name} must match ${pattern.source}, not "${text}"`);
}
