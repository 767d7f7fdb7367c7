import type { LogRow } from '../logs/log-store.ts';

const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Makes text from a user safe to print: replaces line breaks and control characters. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, '�');
}

/** JSON in one line that is as safe to print, with the same value: what {@link printable} replaces is escaped. */
export function jsonLine(value: unknown): string {
  const units = (character: string) =>
    character.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
  return JSON.stringify(value).replace(UNPRINTABLE, (character) => `\\u${units(character).join('\\u')}`);
}

export const bytes = (count: number) => `${count.toLocaleString('en-US')} ${count === 1 ? 'byte' : 'bytes'}`;

export const several = (count: number, one: string) =>
  `${count.toLocaleString('en-US')} ${one}${count === 1 ? '' : 's'}`;

export const time = (epochMs: number) => new Date(epochMs).toISOString();

/** One row of a query of the logs: its time, then every field that it has. A row without known fields is shown as it is. */
export function rowLine({ '@timestamp': at = '', '@message': message, '@log': _, ...fields }: LogRow): string {
  const shown = Object.entries(fields).filter(([name, value]) => !(name === 'message' && value === 'request'));
  const texts = shown.map(([name, value]) => `${name}=${/\s/.test(value) ? JSON.stringify(value) : value}`);
  return printable(`${at}  ${texts.length > 0 ? texts.join(' ') : (message ?? '')}`);
}

/** The text that refers to an account: its e-mail address and id. */
export const nameOf = ({ id, email }: { id: string; email: string }) => `${printable(email)} (${id})`;
