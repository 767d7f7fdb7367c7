/** One line of the output of `npm run bench`. */
export interface Measurement {
  readonly metric: string;
  readonly value: number;
  readonly unit: string;
}

/** Formats measurements as a Markdown table. */
export function toTable(measurements: readonly Measurement[]): string {
  const rows = measurements.map(({ metric, value, unit }) => `| ${metric} | ${readable(value)} | ${unit} |`);
  return ['| metric | value | unit |', '|---|---:|---|', ...rows].join('\n');
}

/** Rounds to three significant digits, which suffice for what differs from run to run; integers stay as they are. */
function readable(value: number): string {
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(3)));
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
