import type { VariableName } from '../shared/env.ts';
import { CONFIGURABLE_LIMITS } from '../shared/limits.ts';

/** Who may log in, in the environment of a synthesis; the limits are the other variables an operator sets there. */
const ALLOW_LISTS: readonly VariableName[] = ['ALLOWED_EMAIL_DOMAINS', 'ALLOWED_EMAILS'];

/**
 * Refuses an environment with a variable that is nearly one of ours: `ALLOWED_EMAIL=…` would let everybody in.
 * @throws Error naming it, and those there are.
 */
export function refuseMisspeltVariables(environment: Readonly<Record<string, string | undefined>>): void {
  const known = [...Object.keys(CONFIGURABLE_LIMITS), ...ALLOW_LISTS];
  const meant = Object.keys(environment).filter((name) =>
    /^(ALLOWED_EMAIL|MAX_UPLOAD|RATE_LIMIT|STORAGE_LIMIT)/i.test(name),
  );
  const unknown = meant.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new Error(`the environment has ${unknown}, which is no variable of ours; those are ${known.join(', ')}`);
}
