import { anonymousPrincipal, runSimulation, type Simulation } from '@cloud-copilot/iam-simulate';
import { type Account, type Caller, callerArn } from '../principals.ts';
import { mentionedKeys, requireSupportedKeys } from './condition-keys.ts';
import type { Permission } from './permission.ts';
import type { PolicyDocument } from './policy-document.ts';
import { resourceShape } from './resource-shape.ts';

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
