import type { LogRow } from '../logs/log-row.ts';

const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Makes text from a user safe to print: replaces line breaks and control characters. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, '�');
}

/**
 * One line of JSON that is safe to print: the characters that {@link printable} replaces are escaped, so a parser of JSON still gets the
 * same value.
 */
export function jsonLine(value: unknown): string {
  const units = (character: string) =>
    character.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
  return JSON.stringify(value).replace(UNPRINTABLE, (character) => `\\u${units(character).join('\\u')}`);
}

export const bytes = (count: number) => `${count.toLocaleString('en-US')} ${count === 1 ? 'byte' : 'bytes'}`;

export const several = (count: number, one: string) =>
  `${count.toLocaleString('en-US')} ${one}${count === 1 ? '' : 's'}`;

export const time = (epochMs: number) => new Date(epochMs).toISOString();

/** Formats a row: its time, then its fields. A row without fields is shown as the whole line of the log. */
export function rowLine({ '@timestamp': at = '', '@message': message, ...fields }: LogRow): string {
  const shown = Object.entries(fields).filter(
    ([name, value]) => !(name === 'message' && /^(request|audit)$/.test(value)),
  );
  const texts = shown.map(([name, value]) => `${name}=${/\s/.test(value) ? JSON.stringify(value) : value}`);
  return printable(`${at}  ${texts.length > 0 ? texts.join(' ') : (message ?? '')}`);
}

/** Formats rows. @param isCut  true when there may be older rows than these. */
export function rowLines(rows: readonly LogRow[], { none, isCut }: { none: string; isCut: boolean }): string {
  const cut =
    'There may be more: only the latest are shown. For older ones add --until with the time of the oldest line.';
  return [...(rows.length === 0 ? [none] : rows.map(rowLine)), ...(isCut ? [cut] : [])].join('\n');
}

/** Names an account by its e-mail address and its id. */
export const nameOf = ({ id, email }: { id: string; email: string }) => `${printable(email)} (${id})`;
