import { uuidv5 } from '../ids.ts';

/** Tells account ids from other uses of UUIDv5. Changing it would give everybody a new, empty account. */
const NAMESPACE = 'b1f04be6-6b0c-4f0e-9c5e-0d0a6c2f7f53';

/**
 * The account of a person, by what never changes: the provider's one name and its name for the person. Neither the
 * e-mail address nor the way the provider spells itself plays a part.
 */
export function accountIdOf(issuer: string, subject: string): string {
  // An issuer is an address and has no space, so no two pairs make one name.
  return uuidv5(NAMESPACE, `${issuer} ${subject}`);
}
