import { anonymousPrincipal, runSimulation, type Simulation } from '@cloud-copilot/iam-simulate';
import { mentionedKeys, type PolicyDocument, requireSupportedKeys } from './policy-document.ts';
import { type Account, type Caller, callerArn } from './principals.ts';

/** Names made of these alone are matched by plain wildcards; what is special in one judge is not in another. */
const PLAIN = /^arn:aws:s3:::[\w./-]+$/;

/**
 * What the resources of policies make of an ARN: objects of one shape are matched by the same patterns, so one verdict
 * holds for all of them. Whatever is not the plain name of an object is a shape of its own.
 */
function resourceShape(resource: string, policies: readonly PolicyDocument[]): string {
  if (!PLAIN.test(resource)) return resource;
  const patterns = policies.flatMap(patternsOf);
  if (patterns.includes(undefined)) return resource;
  return patterns.map((pattern) => (pattern?.test(resource) ? '1' : '0')).join('');
}

const patternsByPolicy = new WeakMap<PolicyDocument, readonly (RegExp | undefined)[]>();

/** The resources a policy names, in its order; `undefined` for one with a variable, which depends on the caller. */
function patternsOf(policy: PolicyDocument): readonly (RegExp | undefined)[] {
  const known = patternsByPolicy.get(policy);
  if (known) return known;
  const statements = [policy.Statement].flat() as { Resource?: string | string[]; NotResource?: string | string[] }[];
  const patterns = statements.flatMap(({ Resource = [], NotResource = [] }) =>
    [Resource, NotResource].flat().map(toRegExp),
  );
  patternsByPolicy.set(policy, patterns);
  return patterns;
}

function toRegExp(pattern: string): RegExp | undefined {
  if (pattern.includes('$')) return undefined;
  const source = pattern
    .replace(/[\\^.+|(){}[\]-]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 's');
}

export interface PolicyEvaluator {
  /** Whether the caller's own policies and that of the bucket together allow it. */
  isAllowed(caller: Caller, permission: Permission): Promise<boolean>;
}

/** A verdict costs up to a millisecond, one from the cache a hundredth of that. */
const VERDICTS_MAX = 20_000;

/**
 * Judges calls as IAM does: an explicit deny wins, then an allow of the caller's policies or the bucket's.
 * Everything here speaks plain HTTP on one machine, which stands for TLS: `aws:SecureTransport` is true.
 * @throws Error for a policy it cannot judge: malformed, or with condition keys the front does not know.
 */
export function createPolicyEvaluator(
  account: Account,
  bucketPolicies: ReadonlyMap<string, PolicyDocument>,
): PolicyEvaluator {
  for (const [bucket, policy] of bucketPolicies) requireSupportedKeys(policy, `bucket ${bucket}`);
  const verdicts = new Map<string, Promise<boolean>>();

  return {
    isAllowed(caller, permission) {
      const bucketPolicy = bucketPolicies.get(permission.bucket ?? '');
      const policies = bucketPolicy ? [...caller.policies, bucketPolicy] : caller.policies;
      const context = relevantContext(caller, permission, policies, account);
      const identity = 'accessKeyId' in caller ? caller.accessKeyId : '';
      const shape = resourceShape(permission.resource, policies);
      const key = JSON.stringify([identity, permission.action, permission.bucket, shape, context]);
      const known = verdicts.get(key);
      if (known) return known;
      const verdict = simulate(caller, permission, bucketPolicy, context, account);
      if (verdicts.size >= VERDICTS_MAX) verdicts.delete(verdicts.keys().next().value ?? '');
      verdicts.set(key, verdict);
      return verdict;
    },
  };
}

/** Only the keys that a policy asks for, so that those which differ from call to call do not empty the cache. */
function relevantContext(
  caller: Caller,
  { context, resource }: Permission,
  policies: readonly PolicyDocument[],
  account: Account,
): Record<string, string | string[]> {
  const keys = new Set(policies.flatMap((policy) => [...keysOf(policy)]));
  const all = { ...commonContext(caller, account), ...context };
  if (resource.startsWith('arn:aws:s3:::')) Object.assign(all, { 's3:ResourceAccount': account.accountId });
  return Object.fromEntries(Object.entries(all).filter(([key]) => keys.has(key.toLowerCase())));
}

const keysByPolicy = new WeakMap<PolicyDocument, Set<string>>();

function keysOf(policy: PolicyDocument): Set<string> {
  const keys = keysByPolicy.get(policy) ?? mentionedKeys(policy);
  keysByPolicy.set(policy, keys);
  return keys;
}

function commonContext(caller: Caller, { accountId, region }: Account): Record<string, string> {
  const common = { 'aws:SecureTransport': 'true', 'aws:RequestedRegion': region, 'aws:ResourceAccount': accountId };
  if (!('accessKeyId' in caller)) return common;
  if (caller.service === undefined) {
    const role = `arn:aws:iam::${accountId}:role/${caller.name}`;
    return {
      ...common,
      'aws:PrincipalArn': role,
      'aws:PrincipalAccount': accountId,
      'aws:PrincipalIsAWSService': 'false',
    };
  }
  const service = { 'aws:PrincipalIsAWSService': 'true', 'aws:PrincipalServiceName': caller.service };
  if (caller.sourceArn === undefined) return { ...common, ...service };
  return { ...common, ...service, 'aws:SourceArn': caller.sourceArn, 'aws:SourceAccount': accountId };
}

const ALLOW_ALL = { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: '*', Resource: '*' }] };

async function simulate(
  caller: Caller,
  { action, resource }: Permission,
  bucketPolicy: PolicyDocument | undefined,
  contextVariables: Record<string, string | string[]>,
  account: Account,
): Promise<boolean> {
  const isAnonymous = !('accessKeyId' in caller);
  // A `*` in the name of an object is a character like any other; the evaluator would take it for a pattern.
  const name = resource === '*' ? resource : resource.replaceAll('*', '\uff0a');
  const simulation: Simulation = {
    request: {
      principal: isAnonymous ? anonymousPrincipal : callerArn(caller, account),
      action,
      resource: { resource: name, accountId: account.accountId },
      contextVariables,
    },
    identityPolicies: caller.policies.map((policy, index) => ({ name: `policy ${index}`, policy })),
    serviceControlPolicies: isAnonymous
      ? []
      : [{ orgIdentifier: 'root', policies: [{ name: 'FullAWSAccess', policy: ALLOW_ALL }] }],
    resourceControlPolicies: [],
    ...(bucketPolicy && { resourcePolicy: bucketPolicy }),
  };
  const outcome = await runSimulation(simulation, {});
  if (outcome.resultType !== 'error') return outcome.overallResult === 'Allowed';
  throw new Error(`cannot judge ${action} on ${resource} for ${caller.name}: ${JSON.stringify(outcome.errors)}`);
}

/** One action on one resource that a call needs; a call may need several. */
export interface Permission {
  /** As in a policy: `s3:GetObject`. */
  readonly action: string;
  /** ARN; `*` for actions that know no resources. */
  readonly resource: string;
  /** Condition keys this call has, besides those every call has. */
  readonly context?: Readonly<Record<string, string | string[]>>;
  /** The policy of the resource, where there may be one. */
  readonly bucket?: string;
}
