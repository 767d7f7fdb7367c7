import type { Properties } from '../template/deployment.ts';

/** What the distribution refers to by id, name or ARN: the resolved properties as the template has them. */
export interface DistributionResources {
  /** By the value of `FunctionARN`. */
  readonly functions: Readonly<Record<string, { readonly code: string }>>;
  readonly cachePolicies: Readonly<Record<string, Properties>>;
  readonly originRequestPolicies: Readonly<Record<string, Properties>>;
  readonly responseHeadersPolicies: Readonly<Record<string, Properties>>;
  readonly originAccessControls: Readonly<Record<string, Properties>>;
}

/** @throws Error naming the id when nothing has it. */
export function find<T>(kind: string, id: string, all: Readonly<Record<string, T>>): T {
  const found = all[id];
  if (found === undefined) throw new Error(`the distribution refers to the ${kind} "${id}", which is not there`);
  return found;
}
