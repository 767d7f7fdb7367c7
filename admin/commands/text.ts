/** Makes text from a user safe to print: replaces line breaks and control characters. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '�');
}

export const bytes = (count: number) => `${count.toLocaleString('en-US')} ${count === 1 ? 'byte' : 'bytes'}`;

export const several = (count: number, one: string) =>
  `${count.toLocaleString('en-US')} ${one}${count === 1 ? '' : 's'}`;

export const time = (epochMs: number) => new Date(epochMs).toISOString();

/** The text that refers to an account: its e-mail address and id. */
export const nameOf = ({ id, email }: { id: string; email: string }) => `${printable(email)} (${id})`;
