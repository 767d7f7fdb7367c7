import { createHash } from 'node:crypto';
import type { Account } from '../aws-front/principals.ts';

/** What tells a resource from every other one, so that what is derived from it is the same at every start. */
export interface ResourceKey extends Account {
  readonly stack: string;
  readonly logicalId: string;
}

const LOWER = 'abcdefghijklmnopqrstuvwxyz0123456789';
const UPPER = LOWER.toUpperCase();

/**
 * A name as CloudFormation makes one up: `<stack>-<logical id>-<12 characters>`. The last part is random on AWS; here it
 * follows from the rest, so that a restart finds its data.
 * @param maxLength  of the type; what is too long is cut before the last part.
 */
export function physicalName(key: ResourceKey, maxLength: number): string {
  const suffix = stableId(key, 12, 'upper');
  return `${`${key.stack}-${key.logicalId}`.slice(0, maxLength - suffix.length - 1)}-${suffix}`;
}

/** An id as AWS makes one up, of `length` letters and digits. */
export function stableId(key: ResourceKey, length: number, letters: 'lower' | 'upper'): string {
  const alphabet = letters === 'upper' ? UPPER : LOWER;
  const seed = [key.accountId, key.region, key.stack, key.logicalId].join('/');
  const digest = createHash('sha512').update(seed).digest();
  return [...digest.subarray(0, length)].map((byte) => alphabet[byte % alphabet.length]).join('');
}
