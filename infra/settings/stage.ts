import { createHash } from 'node:crypto';
import { z } from 'zod';
import {
  CONFIGURABLE_LIMITS,
  type LimitName,
  readLimits,
  SHARDS,
  STREAMING_PLACES_PER_ENVIRONMENT,
} from '../../shared/contract/limits.ts';
import { EVERYONE } from '../../shared/env.ts';
import { TABLES, type TableName } from '../../shared/tables.ts';

/** The stages; each has a file of this name in infra/stages. `local` is what `npm start` and the tests run. */
export type StageName = 'prod' | 'dev' | 'local';

/** What a value must be. {@link readStage} puts the file and the setting before this. */
const must = (what: string) => ({
  error: ({ input }: { readonly input?: unknown }) => `must be ${what}, not ${JSON.stringify(input)}`,
});

const text = (pattern: RegExp, what: string) => z.string(must(what)).regex(pattern, must(what));

const list = <One extends z.ZodType>(one: One) => z.array(one, must('a list in brackets')).readonly();

function whole(from: number, to: number): z.ZodInt {
  const error = must(`a whole number from ${from} to ${to}`);
  return z.int(error).min(from, error).max(to, error);
}

/** An object that has these settings and no others. */
function only<Shape extends z.ZodRawShape>(shape: Shape) {
  const names = Object.keys(shape).join(', ');
  const { error } = must(`an object with ${names}`);
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? `is not a setting; there are ${names}` : error(issue)),
  });
}

/** Optional settings with given names. */
function named<Name extends string, Value extends z.ZodType>(names: readonly Name[], value: (name: Name) => Value) {
  const shape = Object.fromEntries(names.map((name) => [name, value(name).optional()]));
  return only(shape as Record<Name, z.ZodOptional<Value>>);
}

const REGION = text(/^[a-z]{2}(-[a-z]+)+-\d$/, 'a Region, such as "eu-central-1"');
const DOMAIN = text(
  /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z0-9-]{2,}$/,
  'a domain name in lower case, such as "example.com"',
);
const EMAIL = text(/^(?=[!-~]+$)[^@,]+@[^@,]+$/, 'one e-mail address, in ASCII');
const YES_OR_NO = z.boolean(must('true or false'));

const CUSTOM_DOMAIN = only({
  name: DOMAIN,
  // CloudFront takes certificates only from us-east-1.
  certificateArn: text(/^arn:aws:acm:us-east-1:\d{12}:certificate\/\S+$/, 'the ARN of an ACM certificate in us-east-1'),
});
export type CustomDomain = z.infer<typeof CUSTOM_DOMAIN>;

/** How many requests one address may send in five minutes. Source of the bounds: AWS WAF API reference, "RateBasedStatement". */
const FIREWALL_LIMITS = only({
  /** Requests to API and dashboard. */
  requests: whole(10, 2_000_000_000),
  /** Requests to links. */
  downloads: whole(10, 2_000_000_000),
});
export type FirewallLimits = z.infer<typeof FIREWALL_LIMITS>;

/** A copy of files and tables in another Region. */
const SECOND_COPY = only({
  region: REGION,
  /**
   * For how many days each daily backup is kept. The copy of the bucket keeps deleted bytes for as long. docs/operate.md says that a deleted
   * row can be restored for 35 days and no longer. With older backups that would be false.
   */
  keepDays: whole(7, 35),
});
export type SecondCopy = z.infer<typeof SECOND_COPY>;

/** Where people report a vulnerability. RFC 9116 requires a contact, and an empty list of languages has no meaning. */
const SECURITY_CONTACT = only({
  /** In the order of preference. */
  contacts: list(
    text(/^(?:mailto:[!-~]+@[!-~]+|https:\/\/[!-~]+)$/, 'an address that begins with mailto: or https://'),
  ).refine(isNotEmpty, 'must have at least one address'),
  /** A page that says what a report should contain, and what happens with it. */
  policy: text(/^https:\/\/[!-~]+$/, 'an address that begins with https://').optional(),
  languages: list(text(/^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/, 'the tag of a language, such as "en"'))
    .refine(isNotEmpty, 'must have at least one language')
    .optional(),
});
export type SecurityContact = z.infer<typeof SECURITY_CONTACT>;

/** Lambda holds 4 KB of variables for a function. The other variables of the login need less than half of that. */
const ALLOW_LIST_MAX_BYTES = 2_000;
const PEOPLE = only({ domains: list(DOMAIN).default([]), emails: list(EMAIL).default([]) }).refine(
  ({ domains, emails }) => [...domains, ...emails].join(',').length <= ALLOW_LIST_MAX_BYTES,
  `may have ${ALLOW_LIST_MAX_BYTES} bytes, because variables of a function hold it`,
);

/** The settings of a stage, as its file has them. {@link SETTINGS} says what each of them means. */
const settingsOf = (stage: StageName) =>
  only({
    region: REGION.optional(),
    account: text(/^\d{12}$/, 'a text of twelve digits').optional(),
    keepsData: YES_OR_NO,
    whoMayLogIn: z.union([PEOPLE, z.literal(EVERYONE)], must(`"${EVERYONE}" or an object with domains, emails`)),
    limits: named(Object.keys(CONFIGURABLE_LIMITS) as LimitName[], (name) =>
      whole(CONFIGURABLE_LIMITS[name].min, CONFIGURABLE_LIMITS[name].max),
    ).default({}),
    alarmEmails: only({ page: list(EMAIL).default([]), ticket: list(EMAIL).default([]) }).default({
      page: [],
      ticket: [],
    }),
    canary: YES_OR_NO.default(true),
    monthlyBudgetUsd: whole(1, 1_000_000).optional(),
    // A distribution without a domain of the operator has a name under cloudfront.net. Each such name is a site of its own (Public Suffix
    // List).
    appDomain: CUSTOM_DOMAIN.optional(),
    // The operator must choose another registrable domain than the app's, so that no upload shares a site with the dashboard's cookie. We only
    // check that it is another name.
    cdnDomain: CUSTOM_DOMAIN.optional(),
    priceClass: z.literal(['all', '200', '100'], must('"all" or "200" or "100"')).default('all'),
    firewall: z.union(
      [
        FIREWALL_LIMITS,
        only({
          webAclArn: text(
            /^arn:aws:wafv2:us-east-1:\d{12}:global\/webacl\/\S+$/,
            'the ARN of a web ACL of scope CLOUDFRONT, in us-east-1',
          ),
        }),
        z.literal('off'),
      ],
      must('"off" or an object with requests and downloads, or with webAclArn'),
    ),
    // Without streaming, the deployment does not fulfil the whole contract. Source of the bounds: Lambda API reference, "ScalingConfig" of a
    // Web Function's endpoint.
    streaming: z.union(
      [only({ environments: whole(2, 10_000) }), z.literal('off')],
      must('"off" or an object with environments'),
    ),
    sweepers: whole(1, SHARDS).default(1),
    // `false` is for an AWS account whose concurrency quota is so small (10) that Lambda refuses to reserve any of it.
    reservesConcurrency: YES_OR_NO.default(true),
    originSecretSlot: z.literal(['a', 'b'], must('"a" or "b"')).default('a'),
    // The prefix is that of CloudFormation's generated names, so that a stage cannot use another stage's tables by mistake.
    restoredTables: named(Object.keys(TABLES) as TableName[], () =>
      text(
        new RegExp(`^FileHosting-${stage}-[\\w.-]{1,200}$`),
        `the name of a table that begins with "FileHosting-${stage}-"`,
      ),
    )
      .refine((tables) => new Set(Object.values(tables)).size === Object.keys(tables).length, {
        error: 'must name another table for each of ours',
      })
      .default({}),
    secondCopy: SECOND_COPY.optional(),
    securityContact: SECURITY_CONTACT.optional(),
  })
    .refine(({ region }) => stage === 'local' || region !== undefined, {
      path: ['region'],
      error: 'must be a Region: only the stage local has none',
    })
    // CloudFront gives a name to one distribution only, so the deployment would fail half-way.
    .refine(({ appDomain, cdnDomain }) => cdnDomain === undefined || cdnDomain.name !== appDomain?.name, {
      path: ['cdnDomain', 'name'],
      error: 'must be another name than that of appDomain',
    })
    .refine(({ region, secondCopy }) => secondCopy === undefined || secondCopy.region !== region, {
      path: ['secondCopy', 'region'],
      error: 'must be another Region than that of the stage',
    })
    // Source: AWS Budgets API reference, "NotificationWithSubscribers".
    .refine(
      ({ monthlyBudgetUsd, alarmEmails: { ticket } }) =>
        monthlyBudgetUsd === undefined || (ticket.length >= 1 && ticket.length <= 10),
      { path: ['monthlyBudgetUsd'], error: 'needs 1 to 10 alarmEmails.ticket' },
    );

function isNotEmpty(values: readonly unknown[]): boolean {
  return values.length > 0;
}

export type StageSettings = z.input<ReturnType<typeof settingsOf>>;
type CheckedSettings = z.output<ReturnType<typeof settingsOf>>;

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
      'How many sweepers run every minute and share the work. [How far it scales](performance.md#how-far-it-scales) says when you need more than one',
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
export interface StageConfig
  extends Omit<CheckedSettings, 'region' | 'account' | 'whoMayLogIn' | 'limits' | 'streaming'> {
  readonly name: StageName;
  /** The Region and the AWS account of the stacks. Without a Region, the templates fit every Region. */
  readonly place: { readonly region?: string | undefined; readonly account?: string | undefined };
  readonly limits: Readonly<Record<LimitName, number>>;
  /** Comma-separated values of the variables of the login. A variable whose value is undefined is not set. */
  readonly allowLists: Readonly<Record<'ALLOWED_EMAIL_DOMAINS' | 'ALLOWED_EMAILS', string | undefined>>;
  readonly streaming: { readonly environments: number } | undefined;
}

/**
 * Checks the settings of a stage and fills in the defaults. They are checked when the program runs, because a synthesis does not run the
 * compiler of TypeScript.
 * @throws Error naming the file and the setting that is missing, unknown or invalid.
 */
export function readStage(name: StageName, settings: StageSettings): StageConfig {
  const { data, error } = settingsOf(name).safeParse(settings);
  const [issue] = error?.issues ?? [];
  if (data === undefined) throw new Error(`infra/stages/${name}.ts: ${issue && sentenceOf(issue)}`);
  const { region, account, whoMayLogIn, limits, streaming, ...others } = data;
  const texts = Object.entries(limits).map(([limit, value]) => [limit, value?.toString()]);
  return {
    ...others,
    name,
    place: { region, account },
    limits: readLimits(Object.fromEntries(texts)),
    allowLists: {
      ALLOWED_EMAIL_DOMAINS: whoMayLogIn === EVERYONE ? undefined : whoMayLogIn.domains.join(',') || undefined,
      ALLOWED_EMAILS: whoMayLogIn === EVERYONE ? EVERYONE : whoMayLogIn.emails.join(',') || undefined,
    },
    streaming: streaming === 'off' ? undefined : streaming,
  };
}

/** The name of a setting, and what is wrong with it. */
function sentenceOf(issue: z.core.$ZodIssue, within: readonly PropertyKey[] = []): string {
  const path = [...within, ...issue.path];
  if (issue.code === 'invalid_union') {
    // An object is compared with the kind of object to which it comes closest.
    const [closest] = issue.errors
      .filter((issues) => issues.every((one) => one.path.length > 0 || one.code === 'unrecognized_keys'))
      .toSorted((a, b) => a.length - b.length);
    if (closest?.[0]) return sentenceOf(closest[0], path);
  }
  const setting = issue.code === 'unrecognized_keys' ? [...path, ...issue.keys.slice(0, 1)] : path;
  return `${z.core.toDotPath(setting)} ${issue.message}`;
}

/**
 * What the SSM parameters of a stage hold:
 * - `operator`: the environment of `npm run admin` as JSON, such as the names of the tables, the bucket and the log group of the audit trail;
 * - `app-url`: the address of API and dashboard, without a slash at its end;
 * - `canary-key`: the API key of the canary, as a SecureString, which `npm run admin -- open-canary` writes;
 * - `login-provider`: the id of our client at Google, as JSON. The operator writes it, so no deployment replaces it;
 * - `commit`: the commit whose functions are deployed;
 * - `settings`: the {@link deployedSettings} as JSON;
 * - `shared/…`: a value that one stack makes and others use.
 */
type Kept = 'operator' | 'app-url' | 'canary-key' | 'login-provider' | 'commit' | 'settings' | `shared/${string}`;

export function parameterName(stage: StageName, kept: Kept): string {
  return `/file-hosting/${stage}/${kept}`;
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
