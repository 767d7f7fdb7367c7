/** What a benchmark has measured. */
export interface Measurement {
  readonly metric: string;
  readonly value: number;
  readonly unit: string;
  /** What it is compared with: the same quantity of something else, measured in the same run. */
  readonly beside?: { readonly what: string; readonly value: number };
}

/** One line of `npm run bench -- --json`. */
type Line = Pick<Measurement, 'metric' | 'value' | 'unit'>;

/**
 * One line for the measurement. If the measurement is compared with another value, a second line has that value, and a third line has the
 * ratio.
 */
export function linesOf({ metric, value, unit, beside }: Measurement): Line[] {
  if (!beside) return [{ metric, value, unit }];
  return [
    { metric, value, unit },
    { metric: `${metric}, ${beside.what}`, value: beside.value, unit },
    { metric: `${metric}, ratio to ${beside.what}`, value: value / beside.value, unit: '' },
  ];
}

/** A Markdown table of measurements. */
export function toTable(measurements: readonly Measurement[]): string {
  const rows = measurements.map(({ metric, value, unit, beside }) => {
    const other = beside
      ? `${readable(beside.value)} ${unit}: ${beside.what} | ${readable(value / beside.value)}`
      : ' | ';
    return `| ${metric} | ${readable(value)} ${unit} | ${other} |`;
  });
  return ['| | Measured | Compared in the same run | Ratio |', '| --- | ---: | --- | ---: |', ...rows].join('\n');
}

/** Rounds to three significant digits, which suffice because the values differ from run to run; integers stay as they are. */
export function readable(value: number): string {
  const rounded = Number.isInteger(value) ? value : Number(value.toPrecision(3));
  return rounded.toLocaleString('en-US', { maximumSignificantDigits: 12 });
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
