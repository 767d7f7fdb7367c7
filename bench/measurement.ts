/** What a benchmark has measured. Several measurements of one metric, each with its unit, are one line of the table. */
export interface Measurement {
  readonly metric: string;
  readonly value: number;
  readonly unit: string;
  /** What it is compared with: the same quantity of something else, measured in the same run. */
  readonly beside?: { readonly what: string; readonly value: number };
}

/** A Markdown table of measurements. */
export function toTable(measurements: readonly Measurement[]): string {
  const rows = [...Map.groupBy(measurements, ({ metric }) => metric)].map(([metric, group]) => {
    const measured = group.map(({ value, unit }) => `${readable(value)} ${unit}`).join(', ');
    const compared = group.map(({ value, unit, beside }) =>
      beside ? `${readable(beside.value)} ${unit}: ${beside.what} | ${readable(value / beside.value)}` : ' | ',
    );
    return `| ${metric} | ${measured} | ${compared[0]} |`;
  });
  return ['| | Measured | Compared in the same run | Ratio |', '| --- | --- | --- | ---: |', ...rows].join('\n');
}

/** Rounds to three significant digits, which suffice because the values differ from run to run; integers stay as they are. */
function readable(value: number): string {
  const rounded = Number.isInteger(value) ? value : Number(value.toPrecision(3));
  return rounded.toLocaleString('en-US', { maximumSignificantDigits: 12 });
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
