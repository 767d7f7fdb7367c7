import { FILE_COUNTS, GROWING, growthMetric, readResults } from '../../bench/results.ts';

/** The picture of how times grow with the number of files, on logarithmic axes. */

const PLOT = { left: 70, top: 20, width: 520, height: 280 };
const SIZE = { width: 780, height: 360 };
/** The exponents of ten at both ends of each axis. */
const FILES = { from: 2, to: 6 };
const MILLISECONDS = { from: 0, to: 4 };
const LABEL_HEIGHT = 14;
const COLOURS = ['#1f77b4', '#d62728', '#2ca02c'];

/** The place of a value on an axis: 0 at its beginning, 1 at its end. */
export function place(value: number, { from, to }: { readonly from: number; readonly to: number }): number {
  return (Math.log10(value) - from) / (to - from);
}

const x = (files: number) => round(PLOT.left + PLOT.width * place(files, FILES));
const y = (ms: number) => round(PLOT.top + PLOT.height * (1 - place(ms, MILLISECONDS)));
const round = (pixels: number) => Math.round(pixels * 10) / 10;

/** The SVG `docs/growth.svg`. */
export function growthChart(): string {
  const found = new Map(readResults().measurements.map(({ metric, value }) => [metric, value]));
  const lines = GROWING.map((what, index) => {
    const points = FILE_COUNTS.map((count) => ({ count, ms: found.get(growthMetric(what, count)) ?? Number.NaN }));
    return { what, points, colour: COLOURS[index] ?? '' };
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${SIZE.height}" font-family="sans-serif" font-size="12">
<title>Milliseconds of a request by the number of files of its account</title>
<rect width="100%" height="100%" fill="#fff"/>
${grid().join('\n')}
${lines.map(drawLine).join('\n')}
${labels(lines).join('\n')}
</svg>
`;
}

interface Line {
  readonly what: string;
  readonly points: readonly { readonly count: number; readonly ms: number }[];
  readonly colour: string;
}

function drawLine({ points, colour }: Line): string {
  const dots = points.map(({ count, ms }) => `<circle cx="${x(count)}" cy="${y(ms)}" r="3" fill="${colour}"/>`);
  const path = points.map(({ count, ms }) => `${x(count)},${y(ms)}`).join(' ');
  return [`<polyline fill="none" stroke="${colour}" stroke-width="2" points="${path}"/>`, ...dots].join('\n');
}

/** The name of each line beside its last point, or lower if it would overlap the name above it. */
function labels(lines: readonly Line[]): string[] {
  const ends = lines.map(({ what, points, colour }) => ({ what, colour, at: y(points.at(-1)?.ms ?? 1) + 4 }));
  let above = Number.NEGATIVE_INFINITY;
  return ends
    .sort((one, other) => one.at - other.at)
    .map(({ what, colour, at }) => {
      above = Math.max(at, above + LABEL_HEIGHT);
      return `<text x="${PLOT.left + PLOT.width + 8}" y="${above}" fill="${colour}">${what}</text>`;
    });
}

function grid(): string[] {
  const [right, bottom] = [PLOT.left + PLOT.width, PLOT.top + PLOT.height];
  const powers = ({ from, to }: typeof FILES) =>
    Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index));
  return [
    ...powers(FILES).flatMap((files) => [
      `<path d="M${x(files)} ${PLOT.top}V${bottom}" stroke="#ddd"/>`,
      `<text x="${x(files)}" y="${bottom + 18}" text-anchor="middle">${files.toLocaleString('en-US')}</text>`,
    ]),
    ...powers(MILLISECONDS).flatMap((ms) => [
      `<path d="M${PLOT.left} ${y(ms)}H${right}" stroke="#ddd"/>`,
      `<text x="${PLOT.left - 8}" y="${y(ms) + 4}" text-anchor="end">${ms.toLocaleString('en-US')} ms</text>`,
    ]),
    `<text x="${(PLOT.left + right) / 2}" y="${bottom + 40}" text-anchor="middle">files of the account</text>`,
  ];
}
