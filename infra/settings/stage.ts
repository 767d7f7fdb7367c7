import { createHash } from 'node:crypto';
import {
  CONFIGURABLE_LIMITS,
  type LimitName,
  readLimits,
  SHARDS,
  STREAMING_PLACES_PER_ENVIRONMENT,
} from '../../shared/contract/limits.ts';
import { EVERYONE } from '../../shared/env.ts';
import { TABLES, type TableName } from '../../shared/tables.ts';
import type { SecurityContact } from './security-text.ts';

/** The stages; each has a file of this name in infra/stages. `local` is what `npm start` and the tests run. */
export type StageName = 'prod' | 'dev' | 'local';

/** The settings of a stage, as its file has them. {@link SETTINGS} says what each setting means, and what its absence means. */
export interface StageSettings {
  readonly region?: string;
  readonly account?: string;
  readonly keepsData: boolean;
  readonly whoMayLogIn: typeof EVERYONE | { readonly domains?: readonly string[]; readonly emails?: readonly string[] };
  readonly limits?: Readonly<Partial<Record<LimitName, number>>>;
  readonly alarmEmails?: { readonly page?: readonly string[]; readonly ticket?: readonly string[] };
  readonly canary?: boolean;
  readonly monthlyBudgetUsd?: number;
  readonly appDomain?: CustomDomain;
  readonly cdnDomain?: CustomDomain;
  readonly priceClass?: 'all' | '200' | '100';
  readonly firewall: 'off' | FirewallLimits | { readonly webAclArn: string };
  readonly streaming: 'off' | { readonly environments: number };
  readonly sweepers?: number;
  readonly reservesConcurrency?: boolean;
  readonly originSecretSlot?: 'a' | 'b';
  readonly restoredTables?: Readonly<Partial<Record<TableName, string>>>;
  readonly secondCopy?: SecondCopy;
  readonly securityContact?: SecurityContact;
}

/** A copy of files and tables in another Region. */
export interface SecondCopy {
  readonly region: string;
  /** For how many days each daily backup is kept. The copy of the bucket keeps deleted bytes for as long. */
  readonly keepDays: number;
}

/** How many requests one address may send in five minutes. */
export interface FirewallLimits {
  /** Requests to API and dashboard. */
  readonly requests: number;
  /** Requests to links. */
  readonly downloads: number;
}

export interface CustomDomain {
  readonly name: string;
  /** The ARN of its ACM certificate in us-east-1: CloudFront takes certificates only from there. */
  readonly certificateArn: string;
}

/** What a setting may be, and what it means. The table in docs/operate.md is generated from this object. */
export const SETTINGS: Readonly<Record<keyof StageSettings, { readonly values: string; readonly meaning: string }>> = {
  region: {
    values: 'a Region',
    meaning:
      'The Region of everything except CloudFront, the resources that it requires in us-east-1, and a second copy. Only the stage `local` has none',
  },
  account: {
    values: 'twelve digits; any account if it is absent',
    meaning: 'The AWS account. With it, a deployment with the credentials of another account is refused',
  },
  keepsData: {
    values: '`true`, `false`',
    meaning:
      '`true`: tables, files, secrets and the audit trail stay when their stack is deleted. `false`: they are deleted with it. A second copy stays in both cases',
  },
  whoMayLogIn: {
    values: '`{ domains, emails }`, `everyone`',
    meaning: 'The people who may log in, if Google lets them through. Empty lists refuse every login',
  },
  limits: {
    values: '`{ <limit>: number }`; the defaults if it is absent',
    meaning: 'The [limits](api.md#limits-and-how-to-change-them) that differ from their defaults',
  },
  alarmEmails: {
    values: '`{ page, ticket }`, each a list of e-mail addresses; none if it is absent',
    meaning:
      '`page` gets the [alarms](alarms.md) that wake a person, `ticket` those that wait for a working day. The owner of each address must first confirm a mail from AWS',
  },
  canary: {
    values: '`true` (default), `false`',
    meaning: '`false`: there is no [canary](#the-canary). An outage is not noticed while no person uses the service',
  },
  monthlyBudgetUsd: {
    values: 'US dollars; no budget if it is absent',
    meaning:
      'A budget for the whole AWS account. The addresses of `alarmEmails.ticket` get mail when a month has cost more, and when AWS forecasts that it will',
  },
  appDomain: {
    values: '`{ name, certificateArn }`; a name under cloudfront.net if it is absent',
    meaning: 'Your own domain name for API and dashboard, and the ARN of its ACM certificate in us-east-1',
  },
  cdnDomain: {
    values: '`{ name, certificateArn }`; a name under cloudfront.net if it is absent',
    meaning:
      'Your own domain name for the links, under another registrable domain than that of the app, and its certificate',
  },
  priceClass: {
    values: '`all` (default), `200`, `100`',
    meaning: 'The locations of CloudFront that serve: all, or only those in its cheaper price classes',
  },
  firewall: {
    values: '`{ requests, downloads }` (each 10 to 2000000000), `{ webAclArn }`, `off`',
    meaning:
      'A [firewall](#the-firewall) that refuses an address with more requests to API and dashboard, or more downloads, in five minutes; or a web ACL of your own, of scope CLOUDFRONT; or none',
  },
  streaming: {
    values: '`{ environments }` (2 to 10000), `off`',
    meaning: `The maximum number of environments of the streaming function; each has 2 vCPUs and serves ${STREAMING_PLACES_PER_ENVIRONMENT} requests at once. \`off\`: it is not deployed, multipart bodies over 4 MiB are refused with 413, and those without a length with 411`,
  },
  sweepers: {
    values: `1 (default) to ${SHARDS}`,
    meaning:
      'How many sweepers run every minute and share the work. [How far it scales](scale.md) says when you need more than one',
  },
  reservesConcurrency: {
    values: '`true` (default), `false`',
    meaning:
      '`false`, for a new AWS account: no concurrency is reserved for the sweeper and the function that settles direct uploads',
  },
  originSecretSlot: { values: '`a` (default), `b`', meaning: 'The slot of the origin secret that the edge sends' },
  restoredTables: {
    values: '`{ <table>: name }`; none if it is absent',
    meaning: '[Restored tables](#restoring-a-table), in place of those that the stack makes',
  },
  secondCopy: {
    values: '`{ region, keepDays }`; no copy if it is absent',
    meaning:
      '[A second copy](#a-second-copy) of files and tables in another Region; each daily backup is kept for as many days as `{ keepDays }` says, 7 to 35',
  },
  securityContact: {
    values: '`{ contacts, policy, languages }`; no `security.txt` if it is absent',
    meaning:
      '[Where to report a vulnerability](#reports-of-vulnerabilities): addresses that begin with `mailto:` or `https:`, the address of a page with your policy (optional), and the languages of reports (English if it is absent)',
  },
};

/** The settings of a stage with every default filled in, as the stacks use them. */
export interface StageConfig {
  readonly name: StageName;
  /** The Region and the AWS account of the stacks. Without a Region, the templates fit every Region. */
  readonly place: { readonly region?: string; readonly account?: string };
  readonly keepsData: boolean;
  readonly limits: Readonly<Record<LimitName, number>>;
  /** Comma-separated values of the variables of the login. A variable whose value is undefined is not set. */
  readonly allowLists: Readonly<Record<AllowListName, string | undefined>>;
  readonly alarmEmails: Readonly<Record<'page' | 'ticket', readonly string[]>>;
  /** Whether the canary, a client of our own, tries the service every five minutes. */
  readonly canary: boolean;
  readonly monthlyBudgetUsd: number | undefined;
  /**
   * A distribution without a domain of the operator has a name under cloudfront.net. Each such name is a site of its own (Public Suffix
   * List).
   */
  readonly appDomain: CustomDomain | undefined;
  /**
   * The operator must choose another registrable domain than the app's, so that no upload shares a site with the dashboard's cookie.
   * We only check that it is another name.
   */
  readonly cdnDomain: CustomDomain | undefined;
  readonly priceClass: 'all' | '200' | '100';
  readonly firewall: StageSettings['firewall'];
  /** Without it, the deployment does not fulfil the whole contract. */
  readonly streaming: { readonly environments: number } | undefined;
  /** How many sweepers share the work of the background. */
  readonly sweepers: number;
  /** False for an AWS account whose concurrency quota is so small (10) that Lambda refuses to reserve any of it. */
  readonly reservesConcurrency: boolean;
  readonly originSecretSlot: 'a' | 'b';
  readonly restoredTables: Readonly<Partial<Record<TableName, string>>>;
  readonly secondCopy: SecondCopy | undefined;
  readonly securityContact: SecurityContact | undefined;
}

type AllowListName = 'ALLOWED_EMAIL_DOMAINS' | 'ALLOWED_EMAILS';

/**
 * Returns the name of the SSM parameter that holds the environment of `npm run admin` as JSON. It has the names of the tables, the bucket
 * and the log group of the audit trail, for example.
 */
export function operatorParameterName(stage: StageName): string {
  return `/file-hosting/${stage}/operator`;
}

/** Returns the name of the SSM parameter that holds the address of API and dashboard, without a slash at its end. */
export function appUrlParameterName(stage: StageName): string {
  return `/file-hosting/${stage}/app-url`;
}

/**
 * Returns the name of the SSM parameter, a SecureString, that holds the API key of the canary. `npm run admin -- open-canary` writes the
 * parameter.
 */
export function canaryKeyParameterName(stage: StageName): string {
  return `/file-hosting/${stage}/canary-key`;
}

/**
 * Returns the name of the SSM parameter that holds the id of our client at Google, as JSON. The operator writes it, so no deployment replaces
 * it.
 */
export function loginProviderParameterName(stage: StageName): string {
  return `/file-hosting/${stage}/login-provider`;
}

/** Returns the name of the SSM parameter that holds the commit whose functions are deployed. */
export function commitParameterName(stage: StageName): string {
  return `/file-hosting/${stage}/commit`;
}

/** Returns the name of the SSM parameter that holds the {@link deployedSettings} as JSON. */
export function settingsParameterName(stage: StageName): string {
  return `/file-hosting/${stage}/settings`;
}

/** Returns the name of the SSM parameter that holds a value that one stack makes and others use. */
export function sharedParameterName(stage: StageName, value: string): string {
  return `/file-hosting/${stage}/shared/${value}`;
}

/**
 * Returns the name of a resource that holds nothing, such as a function or its log group. Such a name can be fixed, because no resource
 * that was kept from an earlier deployment can have it. So other stacks, and operators, know it without a look-up (decision 0044).
 */
export function fixedName(stage: StageName, part: string): string {
  return `FileHosting-${stage}-${part}`;
}

/** Settings as they were deployed, by name: `limits.FILE_COUNT_LIMIT`, `restoredTables.files`. */
export type DeployedSettings = Readonly<Record<string, string>>;

/** Returns the settings that a deployment records. Of each list of e-mail addresses it has only a hash. */
export function deployedSettings(stage: StageConfig): DeployedSettings {
  const { name: _, allowLists, alarmEmails, limits, restoredTables, place, ...others } = stage;
  const [lists, emails] = [allowLists, alarmEmails].map((list) => hashOf(JSON.stringify(list)));
  const parts = { ...place, ...others, whoMayLogIn: lists, alarmEmails: emails };
  return {
    ...textsOf('', parts),
    ...textsOf('limits.', limits),
    ...textsOf('restoredTables.', restoredTables),
  };
}

function textsOf(prefix: string, values: object): Record<string, string> {
  const texts = Object.entries(values).map(([name, value]) => [
    prefix + name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return Object.fromEntries(texts.filter(([, text]) => text !== undefined));
}

function hashOf(text: string): string {
  return `sha256 ${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
}

/** A kind of text that a setting may have. */
interface Kind {
  readonly pattern: RegExp;
  /** The words for this kind in an error. */
  readonly what: string;
}

const REGION: Kind = { pattern: /^[a-z]{2}(-[a-z]+)+-\d$/, what: 'a Region, such as "eu-central-1"' };
const ACCOUNT: Kind = { pattern: /^\d{12}$/, what: 'a text of twelve digits' };
const DOMAIN: Kind = {
  pattern: /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z0-9-]{2,}$/,
  what: 'a domain name in lower case, such as "example.com"',
};
const EMAIL: Kind = { pattern: /^(?=[!-~]+$)[^@,]+@[^@,]+$/, what: 'one e-mail address, in ASCII' };
const HTTPS_ADDRESS: Kind = { pattern: /^https:\/\/[!-~]+$/, what: 'an address that begins with https://' };
const CONTACT: Kind = {
  pattern: /^(?:mailto:[!-~]+@[!-~]+|https:\/\/[!-~]+)$/,
  what: 'an address that begins with mailto: or https://',
};
const LANGUAGE: Kind = { pattern: /^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/, what: 'the tag of a language, such as "en"' };
const CERTIFICATE_ARN: Kind = {
  pattern: /^arn:aws:acm:us-east-1:\d{12}:certificate\/\S+$/,
  what: 'the ARN of an ACM certificate in us-east-1',
};
const WEB_ACL_ARN: Kind = {
  pattern: /^arn:aws:wafv2:us-east-1:\d{12}:global\/webacl\/\S+$/,
  what: 'the ARN of a web ACL of scope CLOUDFRONT, in us-east-1',
};
/** Lambda holds 4 KB of variables for a function. The other variables of the login need less than half of that. */
const ALLOW_LIST_MAX_BYTES = 2_000;

/**
 * Checks the settings of a stage and fills in the defaults.
 * @throws Error naming the file and the setting that is missing, unknown or invalid.
 */
export function readStage(name: StageName, settings: StageSettings): StageConfig {
  const check = new Check(`infra/stages/${name}.ts`);
  check.names('', settings, Object.keys(SETTINGS));
  if (name !== 'local' || settings.region !== undefined) check.text('region', settings.region, REGION);
  if (settings.account !== undefined) check.text('account', settings.account, ACCOUNT);
  const { streaming } = settings;
  if (streaming !== 'off') {
    check.names('streaming', streaming, ['environments'], 'off');
    // Source: Lambda API reference, "ScalingConfig" of a Web Function's endpoint.
    check.number('streaming.environments', streaming.environments, 2, 10_000);
  }
  const { sweepers = 1 } = settings;
  check.number('sweepers', sweepers, 1, SHARDS);
  return {
    name,
    place: {
      ...(settings.region !== undefined && { region: settings.region }),
      ...(settings.account !== undefined && { account: settings.account }),
    },
    keepsData: check.choice('keepsData', settings.keepsData, [true, false]),
    limits: limitsOf(check, settings.limits ?? {}),
    allowLists: allowListsOf(check, settings.whoMayLogIn),
    alarmEmails: alarmEmailsOf(check, settings.alarmEmails ?? {}),
    canary: check.choice('canary', settings.canary ?? true, [true, false]),
    monthlyBudgetUsd: budgetOf(check, settings),
    appDomain: domainOf(check, 'appDomain', settings.appDomain),
    cdnDomain: cdnDomainOf(check, settings),
    priceClass: check.choice('priceClass', settings.priceClass ?? 'all', ['all', '200', '100']),
    firewall: firewallOf(check, settings.firewall),
    streaming: streaming === 'off' ? undefined : streaming,
    sweepers,
    reservesConcurrency: check.choice('reservesConcurrency', settings.reservesConcurrency ?? true, [true, false]),
    originSecretSlot: check.choice('originSecretSlot', settings.originSecretSlot ?? 'a', ['a', 'b']),
    restoredTables: restoredTablesOf(check, name, settings.restoredTables ?? {}),
    secondCopy: secondCopyOf(check, settings),
    securityContact: securityContactOf(check, settings.securityContact),
  };
}

function limitsOf(check: Check, limits: NonNullable<StageSettings['limits']>): StageConfig['limits'] {
  check.names('limits', limits, Object.keys(CONFIGURABLE_LIMITS));
  const texts = Object.entries(limits).map(([limit, value]) => [limit, String(value)]);
  return check.within('limits', () => readLimits(Object.fromEntries(texts)));
}

function allowListsOf(check: Check, who: StageSettings['whoMayLogIn']): StageConfig['allowLists'] {
  if (who === EVERYONE) return { ALLOWED_EMAIL_DOMAINS: undefined, ALLOWED_EMAILS: EVERYONE };
  check.names('whoMayLogIn', who, ['domains', 'emails'], EVERYONE);
  const { domains = [], emails = [] } = who;
  check.texts('whoMayLogIn.domains', domains, DOMAIN);
  check.texts('whoMayLogIn.emails', emails, EMAIL);
  const [joinedDomains, joinedEmails] = [domains.join(','), emails.join(',')];
  const bytes = Buffer.byteLength(joinedDomains + joinedEmails);
  if (bytes > ALLOW_LIST_MAX_BYTES)
    check.fail(
      'whoMayLogIn',
      `may have ${ALLOW_LIST_MAX_BYTES} bytes, because variables of a function hold it; it has ${bytes}`,
    );
  return { ALLOWED_EMAIL_DOMAINS: joinedDomains || undefined, ALLOWED_EMAILS: joinedEmails || undefined };
}

function domainOf(check: Check, setting: string, domain: CustomDomain | undefined): CustomDomain | undefined {
  if (domain === undefined) return undefined;
  check.names(setting, domain, ['name', 'certificateArn']);
  check.text(`${setting}.name`, domain.name, DOMAIN);
  check.text(`${setting}.certificateArn`, domain.certificateArn, CERTIFICATE_ARN);
  return domain;
}

/** Refuses the name of the app: CloudFront gives a name to one distribution only, so the deployment would fail half-way. */
function cdnDomainOf(check: Check, { appDomain, cdnDomain }: StageSettings): CustomDomain | undefined {
  const domain = domainOf(check, 'cdnDomain', cdnDomain);
  if (domain !== undefined && domain.name === appDomain?.name)
    check.fail('cdnDomain.name', `must be another name than that of appDomain, ${domain.name}`);
  return domain;
}

function firewallOf(check: Check, firewall: StageSettings['firewall']): StageConfig['firewall'] {
  if (firewall === 'off') return firewall;
  check.names('firewall', firewall, ['requests', 'downloads', 'webAclArn'], 'off');
  if ('webAclArn' in firewall) {
    check.names('firewall', firewall, ['webAclArn']);
    check.text('firewall.webAclArn', firewall.webAclArn, WEB_ACL_ARN);
    return firewall;
  }
  // Source: AWS WAF API reference, "RateBasedStatement".
  check.number('firewall.requests', firewall.requests, 10, 2_000_000_000);
  check.number('firewall.downloads', firewall.downloads, 10, 2_000_000_000);
  return firewall;
}

function alarmEmailsOf(check: Check, emails: NonNullable<StageSettings['alarmEmails']>): StageConfig['alarmEmails'] {
  check.names('alarmEmails', emails, ['page', 'ticket']);
  const { page = [], ticket = [] } = emails;
  check.texts('alarmEmails.page', page, EMAIL);
  check.texts('alarmEmails.ticket', ticket, EMAIL);
  return { page, ticket };
}

/** Source: AWS Budgets API reference, "NotificationWithSubscribers": at most ten addresses, and at least one. */
function budgetOf(check: Check, { monthlyBudgetUsd, alarmEmails = {} }: StageSettings): number | undefined {
  if (monthlyBudgetUsd === undefined) return undefined;
  check.number('monthlyBudgetUsd', monthlyBudgetUsd, 1, 1_000_000);
  const { length } = alarmEmails.ticket ?? [];
  if (length < 1 || length > 10)
    check.fail('monthlyBudgetUsd', `needs 1 to 10 alarmEmails.ticket; there are ${length}`);
  return monthlyBudgetUsd;
}

function secondCopyOf(check: Check, { region, secondCopy }: StageSettings): SecondCopy | undefined {
  if (secondCopy === undefined) return undefined;
  check.names('secondCopy', secondCopy, ['region', 'keepDays']);
  check.text('secondCopy.region', secondCopy.region, REGION);
  if (secondCopy.region === region) check.fail('secondCopy.region', `must be another Region than ${region}`);
  // docs/operate.md says that a deleted row can be restored for 35 days and no longer. With older backups that would be false.
  check.number('secondCopy.keepDays', secondCopy.keepDays, 7, 35);
  return secondCopy;
}

function securityContactOf(check: Check, contact: SecurityContact | undefined): SecurityContact | undefined {
  if (contact === undefined) return undefined;
  check.names('securityContact', contact, ['contacts', 'policy', 'languages']);
  check.texts('securityContact.contacts', contact.contacts, CONTACT);
  // RFC 9116 requires a contact, and an empty list of languages has no meaning.
  if (contact.contacts.length === 0) check.fail('securityContact.contacts', 'must have at least one address');
  if (contact.policy !== undefined) check.text('securityContact.policy', contact.policy, HTTPS_ADDRESS);
  if (contact.languages !== undefined) {
    check.texts('securityContact.languages', contact.languages, LANGUAGE);
    if (contact.languages.length === 0) check.fail('securityContact.languages', 'must have at least one language');
  }
  return contact;
}

/** Requires the prefix of CloudFormation's generated names, so that a stage cannot use another stage's tables by mistake. */
function restoredTablesOf(
  check: Check,
  stage: StageName,
  tables: NonNullable<StageSettings['restoredTables']>,
): StageConfig['restoredTables'] {
  check.names('restoredTables', tables, Object.keys(TABLES));
  const kind: Kind = {
    pattern: new RegExp(`^FileHosting-${stage}-[\\w.-]{1,200}$`),
    what: `the name of a table that begins with "FileHosting-${stage}-"`,
  };
  for (const [table, name] of Object.entries(tables)) {
    check.text(`restoredTables.${table}`, name, kind);
    const other = Object.entries(tables).find((one) => one[1] === name)?.[0];
    if (other !== table) check.fail(`restoredTables.${table}`, `must be another table than restoredTables.${other}`);
  }
  return tables;
}

/** Checks single settings. It checks their types as well, because a synthesis does not run the compiler of TypeScript. */
class Check {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  fail(setting: string, what: string): never {
    throw new Error(`${this.#file}: ${setting} ${what}`);
  }

  /**
   * Checks that a value is an object without unknown names.
   * @param word  a text that the setting may be instead. The caller has already accepted this text; here it is only named in the error.
   */
  names(setting: string, value: unknown, known: readonly string[], word?: string): void {
    const choices = `${word === undefined ? '' : `"${word}" or `}an object with ${known.join(', ')}`;
    if (typeof value !== 'object' || value === null)
      this.fail(setting, `must be ${choices}, not ${JSON.stringify(value)}`);
    const unknown = Object.keys(value).find((name) => !known.includes(name));
    if (unknown === undefined) return;
    const full = [setting, unknown].filter(Boolean).join('.');
    this.fail(full, `is not a setting; there are ${known.join(', ')}`);
  }

  text(setting: string, value: unknown, { pattern, what }: Kind): void {
    if (typeof value === 'string' && pattern.test(value)) return;
    this.fail(setting, `must be ${what}, not ${JSON.stringify(value)}`);
  }

  texts(setting: string, values: unknown, kind: Kind): void {
    if (!Array.isArray(values)) this.fail(setting, `must be a list in brackets, not ${JSON.stringify(values)}`);
    for (const [index, value] of values.entries()) this.text(`${setting}[${index}]`, value, kind);
  }

  number(setting: string, value: unknown, from: number, to: number): void {
    if (Number.isInteger(value) && Number(value) >= from && Number(value) <= to) return;
    this.fail(setting, `must be a whole number from ${from} to ${to}, not ${JSON.stringify(value)}`);
  }

  choice<Value>(setting: string, value: Value, values: readonly Value[]): Value {
    if (values.includes(value)) return value;
    const choices = values.map((one) => JSON.stringify(one)).join(' or ');
    return this.fail(setting, `must be ${choices}, not ${JSON.stringify(value)}`);
  }

  /** Puts the file and the setting before the message of an error. */
  within<Value>(setting: string, read: () => Value): Value {
    try {
      return read();
    } catch (error) {
      return this.fail(setting, `are invalid: ${(error as Error).message}`);
    }
  }
}
