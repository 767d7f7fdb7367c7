/** Numbers and dates as the browser writes them by itself: what `navigator.languages` holds may be no valid language tag. */
const LOCALE = undefined;

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;

/** Binary units under the names that file managers use: 1 MB is 1,048,576 bytes. */
export function formatBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return bytesFormat(power, power === 0 || value >= 100 ? 0 : 1).format(value);
}

/** Kept: to make one takes far longer than to use it, and a folder has thousands of files. */
const bytesFormats = new Map<string, Intl.NumberFormat>();

function bytesFormat(power: number, digits: number): Intl.NumberFormat {
  const key = `${power} ${digits}`;
  const format =
    bytesFormats.get(key) ??
    new Intl.NumberFormat(LOCALE, {
      style: 'unit',
      unit: UNITS[power] ?? 'byte',
      unitDisplay: power === 0 ? 'long' : 'short',
      maximumFractionDigits: digits,
    });
  bytesFormats.set(key, format);
  return format;
}

const number = new Intl.NumberFormat(LOCALE);
export const formatNumber = (value: number): string => number.format(value);

/** Whole percent from 0 to 100, for a bar; of nothing, nothing is done. */
export const percentOf = (part: number, whole: number): number =>
  whole === 0 ? 0 : Math.min(100, Math.round((100 * part) / whole));

const exact = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'short' });
export const formatTime = (iso: string): string => exact.format(new Date(iso));

const day = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium' });
export const formatDate = (iso: string): string => day.format(new Date(iso));

const relative = new Intl.RelativeTimeFormat(LOCALE, { numeric: 'auto' });
const SPANS: readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['year', 31_556_952],
  ['month', 2_629_746],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** "2 minutes ago"; what is under a minute is "now". */
export function formatAgo(iso: string, now = Date.now()): string {
  const seconds = (Date.parse(iso) - now) / 1_000;
  for (const [unit, span] of SPANS) {
    if (Math.abs(seconds) >= span) return relative.format(Math.trunc(seconds / span), unit);
  }
  return relative.format(0, 'second');
}

/** "3 min", "40 sec": how long it may yet take, in its largest unit. */
export function formatDuration(seconds: number): string {
  const [unit, value] =
    seconds >= 5_400
      ? (['hour', seconds / 3_600] as const)
      : seconds >= 90
        ? (['minute', seconds / 60] as const)
        : (['second', seconds] as const);
  return new Intl.NumberFormat(LOCALE, { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 0 }).format(
    Math.ceil(value),
  );
}
