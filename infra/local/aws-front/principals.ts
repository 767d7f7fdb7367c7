import type { Credentials } from './signature/sign-request.ts';

/** An IAM policy as CloudFormation holds it, its references resolved. */
export interface PolicyDocument {
  readonly Version?: string;
  readonly Statement: readonly object[] | object;
}

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
