import type { Properties } from './deployment.ts';

/** Reads one property by name, or the fallback. @throws Error when there is neither. */
export type Take = <V>(name: string, fallback?: V) => V;

/**
 * Reads properties, and checks that every property was read. An unknown one is an error at the start, so that a setting that
 * works on AWS is never silently ignored here.
 * @param where  names the part in errors; for example a logical id.
 * @param withoutEffect  properties that may have any value, because they have no effect in the local AWS.
 */
export function readProperties<T>(
  where: string,
  properties: Properties,
  read: (take: Take) => T,
  withoutEffect: readonly string[] = [],
): T {
  const left = new Set(Object.keys(properties));
  const take: Take = <V>(name: string, fallback?: V): V => {
    left.delete(name);
    const value = properties[name] ?? fallback;
    if (value === undefined) throw new Error(`${where} has no ${name}`);
    return value as V;
  };
  const result = read(take);
  for (const name of withoutEffect) left.delete(name);
  if (left.size > 0) throw new Error(`${where}: the local AWS does not implement ${[...left].join(', ')}`);
  return result;
}
