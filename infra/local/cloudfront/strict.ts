/** A part of a template whose properties are not known before they are read. */
export type Properties = Readonly<Record<string, unknown>>;

/**
 * A reader of template properties that accounts for every one of them: what it does not know is an error when the
 * distribution starts, so that a setting which works on AWS is never silently without effect here.
 * @param where  names the part in errors, such as `DefaultCacheBehavior`.
 * @param meaningless  properties that may have any value, because they mean nothing on one machine.
 */
export function readStrictly<T>(
  where: string,
  properties: Properties,
  read: (take: <V>(name: string, fallback?: V) => V) => T,
  meaningless: readonly string[] = [],
): T {
  const left = new Set(Object.keys(properties));
  const take = <V>(name: string, fallback?: V): V => {
    left.delete(name);
    const value = properties[name] ?? fallback;
    if (value === undefined) throw new Error(`${where} has no ${name}`);
    return value as V;
  };
  const result = read(take);
  for (const name of meaningless) left.delete(name);
  if (left.size > 0) throw new Error(`${where}: the local CloudFront does not implement ${[...left].join(', ')}`);
  return result;
}

/** CloudFormation allows numbers and booleans as strings. */
export function asNumber(value: number | string): number {
  const number = Number(value);
  if (!Number.isFinite(number)) throw new Error(`"${value}" is not a number`);
  return number;
}

export function asBoolean(value: boolean | string): boolean {
  return value === true || value === 'true';
}

/** For a part that is only understood when it is empty. */
export function refuseUnlessEmpty(where: string, values: readonly unknown[]): void {
  if (values.length > 0) throw new Error(`${where}: the local CloudFront does not implement ${JSON.stringify(values)}`);
}
