import type { SecurityContact } from './stage.ts';

/** Its place is fixed by RFC 9116, section 3. */
export const SECURITY_TEXT_PATH = '/.well-known/security.txt';

/**
 * The text of `security.txt`, as RFC 9116 defines it. It expires on the first day of the month of its deployment, a year later. So a
 * contact that nobody keeps up ends by itself, and the text, which is part of a template, changes only once a month.
 * @param url  the address of the app.
 */
export function securityText(
  { contacts, policy, languages = ['en'] }: SecurityContact,
  url: string,
  deployedAt: Date,
): string {
  const expires = new Date(Date.UTC(deployedAt.getUTCFullYear() + 1, deployedAt.getUTCMonth()));
  const fields = [
    ...contacts.map((contact) => `Contact: ${contact}`),
    `Expires: ${expires.toISOString().replace('.000', '')}`,
    `Preferred-Languages: ${languages.join(', ')}`,
    `Canonical: ${url}${SECURITY_TEXT_PATH}`,
    ...(policy === undefined ? [] : [`Policy: ${policy}`]),
  ];
  return `${fields.join('\n')}\n`;
}
