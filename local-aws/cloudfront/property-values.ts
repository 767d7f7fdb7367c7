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
