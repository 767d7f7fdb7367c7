import { createHash } from 'node:crypto';
import { type PolicyDocument, requireSupportedKeys } from './policy-document.ts';
import type { Credentials } from './sign-request.ts';

/** Someone who calls AWS with an access key: the role of a function, or a service of AWS itself. */
export interface Principal extends Credentials {
  /** Names it in the meter, in faults and in denials; of a role its role's name. */
  readonly name: string;
  /** Identity policies. A service has none: what it may do stands in the bucket's policy. */
  readonly policies: readonly PolicyDocument[];
  /** When the credentials end. Absent: never. */
  readonly expiresAt?: Date;
  /** Makes it a service, such as `cloudfront.amazonaws.com` … */
  readonly service?: string;
  /** … that calls on behalf of this resource (`aws:SourceArn`). */
  readonly sourceArn?: string;
}

/** Who calls without a signature. */
export const ANONYMOUS = { name: 'anonymous', policies: [] as readonly PolicyDocument[] } as const;

export type Caller = Principal | typeof ANONYMOUS;

export interface Account {
  readonly region: string;
  /** Twelve digits. */
  readonly accountId: string;
}

/** The caller as AWS writes it in an error: a function's session of its role. */
export function callerArn(caller: Caller, { accountId }: Account): string {
  if (!('accessKeyId' in caller)) return 'anonymous';
  return caller.service ?? `arn:aws:sts::${accountId}:assumed-role/${caller.name}/${caller.name}`;
}

interface Principals {
  readonly byKey: ReadonlyMap<string, Principal>;
  /** @throws Error for a policy that cannot be judged here, or an access key that is taken. */
  add(principal: Principal): void;
  /** Gives those of that name another policy, from now on, as IAM does. @throws Error when there are none. */
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

/** The access key of a function's role. */
export interface FunctionCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/**
 * An access key of its own for each function, by which the AWS front knows who calls. It follows from the name, so that a
 * URL signed before a restart is still good after it; it opens nothing but this machine's own loopback address.
 */
export function functionCredentials(name: string): FunctionCredentials {
  const digest = (purpose: string) => createHash('sha256').update(`${purpose}/${name}`).digest('hex');
  return {
    accessKeyId: `ASIA${digest('access key').slice(0, 16).toUpperCase()}`,
    secretAccessKey: digest('secret').slice(0, 40),
  };
}
