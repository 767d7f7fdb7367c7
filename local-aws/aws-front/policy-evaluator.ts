import { anonymousPrincipal, runSimulation, type Simulation } from '@cloud-copilot/iam-simulate';
import { mentionedKeys, type PolicyDocument, requireSupportedKeys } from './policy-document.ts';
import { type Account, type Caller, callerArn } from './principals.ts';

/** One action on one resource. A call may need several. */
export interface Permission {
  /** The action as a policy names it, such as `s3:GetObject`. */
  readonly action: string;
  /** The ARN of the resource; `*` for an action that has none. */
  readonly resource: string;
  /** The condition keys of this call, besides those that every call has. */
  readonly context?: Readonly<Record<string, string | string[]>>;
  /** The bucket of the resource; the policy of the bucket counts as well. Absent for services other than S3. */
  readonly bucket?: string;
}

/** What IAM decides. An explicit denial comes from a statement with `Deny`, an implicit one from the lack of an `Allow`. */
export type Verdict = 'Allowed' | 'ExplicitlyDenied' | 'ImplicitlyDenied';

export interface PolicyEvaluator {
  /** What the caller's own policies and that of the bucket together say. */
  judge(caller: Caller, permission: Permission): Promise<Verdict>;
  /** Whether {@link judge} gives `Allowed`. */
  isAllowed(caller: Caller, permission: Permission): Promise<boolean>;
}

/** How many verdicts are cached: computing one takes up to a millisecond, reading one a hundredth of that. */
const VERDICTS_MAX = 20_000;

/**
 * Evaluates policies as IAM does: an explicit deny wins, then an allow of the caller's policies or the bucket's. Everything
 * of the local AWS is plain HTTP, which stands for TLS, so `aws:SecureTransport` is true.
 * @throws Error for a policy of a bucket with condition keys that the front does not know. A malformed policy is an error of the first call
 *   that needs it.
 */
export function createPolicyEvaluator(
  account: Account,
  bucketPolicies: ReadonlyMap<string, PolicyDocument>,
): PolicyEvaluator {
  for (const [bucket, policy] of bucketPolicies) requireSupportedKeys(policy, `bucket ${bucket}`);
  const verdicts = new Map<string, Promise<Verdict>>();

  return {
    async isAllowed(caller, permission) {
      return (await this.judge(caller, permission)) === 'Allowed';
    },
    judge(caller, permission) {
      const bucketPolicy = bucketPolicies.get(permission.bucket ?? '');
      const policies = bucketPolicy ? [...caller.policies, bucketPolicy] : caller.policies;
      const context = relevantContext(caller, permission, policies, account);
      const identity = 'accessKeyId' in caller ? caller.accessKeyId : '';
      const shape = resourceShape(permission.resource, policies);
      // A policy that is added to a principal makes `policies` longer. So verdicts from before are not used again.
      const key = JSON.stringify([identity, policies.length, permission.action, permission.bucket, shape, context]);
      const known = verdicts.get(key);
      if (known) return known;
      const verdict = simulate(caller, permission, bucketPolicy, context, account);
      if (verdicts.size >= VERDICTS_MAX) verdicts.delete(verdicts.keys().next().value ?? '');
      verdicts.set(key, verdict);
      return verdict;
    },
  };
}

/** The context keys that a policy mentions. Others may differ from call to call and would make the cache useless. */
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
): Promise<Verdict> {
  const isAnonymous = !('accessKeyId' in caller);
  // A `*` in the name of an object is an ordinary character, but the simulator would take it for a wildcard.
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
  if (outcome.resultType !== 'error') return outcome.overallResult;
  throw new Error(`cannot evaluate ${action} on ${resource} for ${caller.name}: ${JSON.stringify(outcome.errors)}`);
}

/** ARNs of objects whose names have only these characters. They match a pattern in the same way here and in the simulator. */
const PLAIN = /^arn:aws:s3:::[\w./-]+$/;

/**
 * The shape of an ARN says which resource patterns of the policies match it. Objects of one shape have the same verdict, so
 * the verdict is computed once. An ARN that is not the plain name of an object is its own shape.
 */
function resourceShape(resource: string, policies: readonly PolicyDocument[]): string {
  if (!PLAIN.test(resource)) return resource;
  const patterns = policies.flatMap(patternsOf);
  if (patterns.includes(undefined)) return resource;
  return patterns.map((pattern) => (pattern?.test(resource) ? '1' : '0')).join('');
}

const patternsByPolicy = new WeakMap<PolicyDocument, readonly (RegExp | undefined)[]>();

/** The resource patterns of a policy, in order. In place of a pattern with a variable, which depends on the caller, is `undefined`. */
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
