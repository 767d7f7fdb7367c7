import { strings } from './strings.ts';

/** This selects the browser's default locale, because `navigator.languages` may contain invalid language tags. */
const LOCALE = undefined;

/** Words are in the language of the dashboard; only digits and dates follow the browser's locale. */
const units = strings.units;
const BYTE_UNITS = [units.kilobytes, units.megabytes, units.gigabytes, units.terabytes];

/** Formatters are created once: creating one takes far longer than using it, and a folder may have thousands of files. */
const whole = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 0 });
const precise = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 1 });

/** Formats bytes in binary units under the names that file managers use: 1 MB is 1,048,576 bytes. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return units.bytes(whole.format(bytes), Math.round(bytes) === 1);
  const power = Math.min(BYTE_UNITS.length, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${(value >= 100 ? whole : precise).format(value)} ${BYTE_UNITS[power - 1]}`;
}

export const formatNumber = (value: number): string => whole.format(value);

/** Returns an integer percentage from 0 to 100, for a progress bar; 0 when `whole` is 0. */
export const percentOf = (part: number, whole: number): number =>
  whole === 0 ? 0 : Math.min(100, Math.round((100 * part) / whole));

/** Isolates a date, which in a right-to-left script would be reordered beside English words. */
const isolated = (text: string) => `\u2068${text}\u2069`;

const exact = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'short' });
export const formatTime = (iso: string): string => isolated(exact.format(new Date(iso)));

const day = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium' });
export const formatDate = (iso: string): string => isolated(day.format(new Date(iso)));

const relative = new Intl.RelativeTimeFormat(strings.language, { numeric: 'auto' });
const SPANS: readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['year', 31_556_952],
  ['month', 2_629_746],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** Formats a time as "2 minutes ago", or "now" if it is less than a minute ago, or in the future of a clock that is slow. */
export function formatAgo(iso: string, now = Date.now()): string {
  const seconds = (now - Date.parse(iso)) / 1_000;
  for (const [unit, span] of SPANS) {
    if (seconds >= span) return relative.format(-Math.trunc(seconds / span), unit);
  }
  return relative.format(0, 'second');
}

/** Formats a remaining time in its largest unit, rounded up: "3 min", "40 sec". */
export function formatDuration(seconds: number): string {
  if (seconds >= 5_400) return `${whole.format(Math.ceil(seconds / 3_600))} ${units.hours}`;
  if (seconds >= 90) return `${whole.format(Math.ceil(seconds / 60))} ${units.minutes}`;
  return `${whole.format(Math.ceil(seconds))} ${units.seconds}`;
}
