import type { Principal } from '../principals.ts';
import type { Grant } from './gate.ts';

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: string | readonly string[];
}

/** What the policies of these principals allow and nobody has used: each action on each resource, as the policy spells them. */
export function unusedGrants(principals: Iterable<Principal>, used: readonly Grant[]): Grant[] {
  return [...principals].flatMap(grantsOf).filter((granted) => !used.some((use) => isUse(use, granted)));
}

function isUse(use: Grant, granted: Grant): boolean {
  if (use.principal !== granted.principal || use.action !== granted.action) return false;
  // A policy's star is any text; of what else a pattern may hold these policies have nothing.
  const pattern = granted.resource.split('*').map(RegExp.escape).join('.*');
  return new RegExp(`^${pattern}$`).test(use.resource);
}

function grantsOf({ name, policies }: Principal): Grant[] {
  const statements = policies.flatMap(({ Statement }) => [Statement].flat() as Statement[]);
  return statements
    .filter(({ Effect }) => Effect === 'Allow')
    .flatMap(({ Action, Resource }) =>
      [Action].flat().flatMap((action) => [Resource].flat().map((resource) => ({ principal: name, action, resource }))),
    );
}
