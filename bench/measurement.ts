/** One line of what `npm run bench` prints. */
export interface Measurement {
  readonly metric: string;
  readonly value: number;
  readonly unit: string;
}

/** Measurements as a table in Markdown. */
export function toTable(measurements: readonly Measurement[]): string {
  const rows = measurements.map(({ metric, value, unit }) => `| ${metric} | ${readable(value)} | ${unit} |`);
  return ['| metric | value | unit |', '|---|---:|---|', ...rows].join('\n');
}

/** Three digits say enough of anything that differs from run to run; whole numbers stay whole. */
function readable(value: number): string {
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(3)));
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
