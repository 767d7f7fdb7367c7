import type { VariableName } from '../../shared/env.ts';
import { CONFIGURABLE_LIMITS, type LimitName, readLimits } from '../../shared/limits.ts';

/** The variables that restrict who may log in. Together with the limits they are all that an operator sets in the environment. */
const ALLOW_LISTS = ['ALLOWED_EMAIL_DOMAINS', 'ALLOWED_EMAILS'] as const satisfies readonly VariableName[];
export type AllowListName = (typeof ALLOW_LISTS)[number];

export type Environment = Readonly<Record<string, string | undefined>>;

/** The operator's settings from the environment. */
export interface OperatorVariables {
  readonly limits: Readonly<Record<LimitName, number>>;
  readonly allowLists: Readonly<Record<AllowListName, string | undefined>>;
}

/**
 * Reads the operator's settings. It also rejects variables that look like a misspelling of ours: `ALLOWED_EMAIL=…` would
 * otherwise silently let everybody in.
 * @throws Error naming an unknown variable (with the known ones), or a limit that is out of bounds or contradicts another.
 */
export function readOperatorVariables(environment: Environment): OperatorVariables {
  rejectMisspelt(environment);
  return {
    limits: readLimits(environment),
    allowLists: Object.fromEntries(ALLOW_LISTS.map((name) => [name, environment[name] || undefined])) as Record<
      AllowListName,
      string | undefined
    >,
  };
}

function rejectMisspelt(environment: Environment): void {
  const known = [...Object.keys(CONFIGURABLE_LIMITS), ...ALLOW_LISTS];
  const similar = Object.keys(environment).filter((name) =>
    /^(ALLOWED_EMAIL|FILE_COUNT|MAX_UPLOAD|RATE_LIMIT|STORAGE_LIMIT|UPLOAD_BYTES)/i.test(name),
  );
  const unknown = similar.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new Error(
    `the environment has ${unknown}, which is not a variable of this service; those are ${known.join(', ')}`,
  );
}
