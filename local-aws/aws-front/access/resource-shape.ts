import type { PolicyDocument } from './policy-document.ts';

/** Names made of these alone are matched by plain wildcards; what is special in one judge is not in another. */
const PLAIN = /^arn:aws:s3:::[\w./-]+$/;

/**
 * What the resources of policies make of an ARN: objects of one shape are matched by the same patterns, so one verdict
 * holds for all of them. Whatever is not the plain name of an object is a shape of its own.
 */
export function resourceShape(resource: string, policies: readonly PolicyDocument[]): string {
  if (!PLAIN.test(resource)) return resource;
  const patterns = policies.flatMap(patternsOf);
  if (patterns.includes(undefined)) return resource;
  return patterns.map((pattern) => (pattern?.test(resource) ? '1' : '0')).join('');
}

const patternsByPolicy = new WeakMap<PolicyDocument, readonly (RegExp | undefined)[]>();

/** The resources a policy names, in its order; `undefined` for one with a variable, which depends on the caller. */
function patternsOf(policy: PolicyDocument): readonly (RegExp | undefined)[] {
  const known = patternsByPolicy.get(policy);
  if (known) return known;
  const statements = [policy.Statement].flat() as { Resource?: string | string[]; NotResource?: string | string[] }[];
  const patterns = statements.flatMap(({ Resource = [], NotResource = [] }) =>
    [Resource, NotResource].flat().map(toRegExp),
  );
  patternsByPolicy.set(policy, patterns);
  return patterns;
}

function toRegExp(pattern: string): RegExp | undefined {
  if (pattern.includes('$')) return undefined;
  const source = pattern
    .replace(/[\\^.+|(){}[\]-]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 's');
}
