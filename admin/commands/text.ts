import type { LogRow } from '../logs/log-store.ts';

/** Makes text from a user safe to print: replaces line breaks and control characters. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '�');
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
