import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, 'decisions');

/** The decision records by subject. `docs/decisions/README.md` is generated from this list and the titles of the records. */
const SUBJECTS: Readonly<Record<string, readonly string[]>> = {
  'Files, their books and their lists': ['0010', '0021', '0024', '0028', '0039', '0040', '0045'],
  'Uploads and tickets': ['0014', '0015', '0020', '0022', '0023', '0038'],
  'What clients see': ['0003', '0006', '0012', '0013', '0017', '0019', '0031', '0042'],
  'Accounts, keys and sessions': ['0016', '0018', '0043'],
  'Deploying and configuring': ['0002', '0007', '0009', '0025', '0026', '0041', '0044'],
  'Operating: logs and alarms': ['0027', '0029', '0030', '0035', '0036'],
  'The dashboard': ['0011'],
  'The local AWS': ['0001', '0005'],
};

/**
 * The page `docs/decisions/README.md`.
 * @throws Error naming the records without a subject, or a subject's record that does not exist.
 */
export function decisionsPage(): string {
  const files = readdirSync(FOLDER).filter((file) => /^\d{4}-/.test(file));
  const listed = Object.values(SUBJECTS).flat();
  const lost = files.map((file) => file.slice(0, 4)).filter((number) => !listed.includes(number));
  if (lost.length > 0)
    throw new Error(`these decision records have no subject in docs/decisions.ts: ${lost.join(', ')}`);
  const sections = Object.entries(SUBJECTS).map(
    ([subject, numbers]) => `## ${subject}\n\n${numbers.map((number) => line(number, files)).join('\n')}`,
  );
  return `# Decision records

A decision whose reasons others will ask for gets a record: context, decision, consequences. When a later record replaces an earlier one,
the earlier one is removed, and what a reader still needs of it is in the later one.

${sections.join('\n\n')}
`;
}

function line(number: string, files: readonly string[]): string {
  const file = files.find((name) => name.startsWith(number));
  if (file === undefined) throw new Error(`docs/decisions.ts lists ${number}, which does not exist`);
  const [, title] = /^# \d{4}\. (.+)$/m.exec(readFileSync(join(FOLDER, file), 'utf8')) ?? [];
  return `- [${number}](${file}): ${title}`;
}
