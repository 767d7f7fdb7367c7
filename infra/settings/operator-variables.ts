import type { VariableName } from '../../shared/env.ts';
import { CONFIGURABLE_LIMITS, type LimitName, readLimits } from '../../shared/limits.ts';

/** Who may log in, in the environment of a synthesis; the limits are the other variables an operator sets there. */
const ALLOW_LISTS = ['ALLOWED_EMAIL_DOMAINS', 'ALLOWED_EMAILS'] as const satisfies readonly VariableName[];
export type AllowListName = (typeof ALLOW_LISTS)[number];

export type Environment = Readonly<Record<string, string | undefined>>;

/** What an operator chose by the environment. */
export interface OperatorVariables {
  readonly limits: Readonly<Record<LimitName, number>>;
  readonly allowLists: Readonly<Record<AllowListName, string | undefined>>;
}

/**
 * Refuses an environment with a variable that is nearly one of ours, too: `ALLOWED_EMAIL=…` would let everybody in.
 * @throws Error naming the variable: one that there is not, with those there are, or a limit that is out of bounds or does
 *   not go with another.
 */
export function readOperatorVariables(environment: Environment): OperatorVariables {
  refuseMisspelt(environment);
  return {
    limits: readLimits(environment),
    allowLists: Object.fromEntries(ALLOW_LISTS.map((name) => [name, environment[name] || undefined])) as Record<
      AllowListName,
      string | undefined
    >,
  };
}

function refuseMisspelt(environment: Environment): void {
  const known = [...Object.keys(CONFIGURABLE_LIMITS), ...ALLOW_LISTS];
  const meant = Object.keys(environment).filter((name) =>
    /^(ALLOWED_EMAIL|FILE_COUNT|MAX_UPLOAD|RATE_LIMIT|STORAGE_LIMIT|UPLOAD_BYTES)/i.test(name),
  );
  const unknown = meant.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new Error(`the environment has ${unknown}, which is no variable of ours; those are ${known.join(', ')}`);
}
