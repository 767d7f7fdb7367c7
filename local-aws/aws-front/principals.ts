import { createHash } from 'node:crypto';
import { type PolicyDocument, requireSupportedKeys } from './policy-document.ts';
import type { Credentials } from './signature.ts';

/** A caller of AWS with an access key: the role of a function, the operator, or a service of AWS itself. */
export interface Principal extends Credentials {
  /** Its name in the meter, in faults and in denials; for a role, the name of the role. */
  readonly name: string;
  /** Identity policies. A service has none; the policy of a bucket says what it may do. */
  readonly policies: readonly PolicyDocument[];
  /** The name of a service of AWS, such as `cloudfront.amazonaws.com`; only for a caller that is one. */
  readonly service?: string;
  /** The resource on whose behalf a service calls (`aws:SourceArn`). */
  readonly sourceArn?: string;
}

/** The caller of a request without a signature. */
export const ANONYMOUS = { name: 'anonymous', policies: [] as readonly PolicyDocument[] } as const;

export type Caller = Principal | typeof ANONYMOUS;

export interface Account {
  readonly region: string;
  /** The id of the AWS account, of twelve digits. */
  readonly accountId: string;
}

/** The caller as AWS names it in errors: for a function, the session of its role. */
export function callerArn(caller: Caller, { accountId }: Account): string {
  if (!('accessKeyId' in caller)) return 'anonymous';
  return caller.service ?? `arn:aws:sts::${accountId}:assumed-role/${caller.name}/${caller.name}`;
}

interface Principals {
  readonly byKey: ReadonlyMap<string, Principal>;
  /** @throws Error for a policy that the front cannot evaluate, or an access key that is taken. */
  add(principal: Principal): void;
  /** Adds a policy to all principals of that name, as IAM does to a role. @throws Error when there are none. */
  addPolicy(name: string, policy: PolicyDocument): void;
}

export function createPrincipals(initial: readonly Principal[]): Principals {
  const byKey = new Map<string, Principal>();
  const add = (principal: Principal) => {
    if (byKey.has(principal.accessKeyId)) throw new Error(`access key ${principal.accessKeyId} is taken`);
    for (const policy of principal.policies) requireSupportedKeys(policy, principal.name);
    byKey.set(principal.accessKeyId, principal);
  };
  initial.forEach(add);
  const addPolicy = (name: string, policy: PolicyDocument) => {
    requireSupportedKeys(policy, name);
    const named = [...byKey.values()].filter((principal) => principal.name === name);
    if (named.length === 0) throw new Error(`there is no principal ${name}`);
    for (const principal of named) {
      byKey.set(principal.accessKeyId, { ...principal, policies: [...principal.policies, policy] });
    }
  };
  return { byKey, add, addPolicy };
}

/** As long as tokens of AWS often are. In base64 it also has the characters that a URL must escape. */
const TOKEN_BYTES = 600;

/**
 * The temporary credentials of a function or a distribution. They are derived from the name, so that a URL that was signed before a restart
 * is still valid after the restart. Unlike those of AWS they never end. They give access to nothing but this machine's own loopback address.
 */
export function credentialsOf(name: string): Required<Credentials> {
  const digest = (purpose: string) => createHash('sha256').update(`${purpose}/${name}`).digest('hex');
  return {
    accessKeyId: `ASIA${digest('access key').slice(0, 16).toUpperCase()}`,
    secretAccessKey: digest('secret').slice(0, 40),
    sessionToken: createHash('shake256', { outputLength: TOKEN_BYTES }).update(name).digest('base64'),
  };
}
