import type { Properties } from './deployment.ts';

/** Takes one property by name, or the fallback. @throws Error when there is neither. */
export type Take = <V>(name: string, fallback?: V) => V;

/**
 * Reads properties so that every one of them is accounted for: what is not known is an error at the start, so that a
 * setting which works on AWS is never silently without effect here.
 * @param where  names the part in errors, such as a logical id.
 * @param meaningless  properties that may have any value, because they mean nothing on one machine.
 */
export function readProperties<T>(
  where: string,
  properties: Properties,
  read: (take: Take) => T,
  meaningless: readonly string[] = [],
): T {
  const left = new Set(Object.keys(properties));
  const take: Take = <V>(name: string, fallback?: V): V => {
    left.delete(name);
    const value = properties[name] ?? fallback;
    if (value === undefined) throw new Error(`${where} has no ${name}`);
    return value as V;
  };
  const result = read(take);
  for (const name of meaningless) left.delete(name);
  if (left.size > 0) throw new Error(`${where}: the local environment does not implement ${[...left].join(', ')}`);
  return result;
}
