import type { FileHosting, FileRecord, RetryOptions } from '../../typescript/src/index.ts';
import { openInBrowser } from './desktop.ts';
import { Exit, Failure } from './failure.ts';
import { countOf, formatBytes, formatTime } from './format.ts';
import { ask, isInteractive, jsonLine, note, painted, printable } from './terminal.ts';

const ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * Finds a file by its id, its link, or its name. The name must belong to one file only.
 * @throws Failure when there is no such file, or several files have the name.
 */
async function findFile(hosting: FileHosting, what: string, calls: RetryOptions): Promise<FileRecord> {
  if (ID.test(what)) return hosting.get(what, calls);
  const isLink = URL.canParse(what);
  const found: FileRecord[] = [];
  for await (const file of hosting.listAll({ ...calls, ...(!isLink && { search: what }) })) {
    if (isLink ? file.url === what : file.name === what) found.push(file);
    if (isLink && found.length > 0) break;
  }
  const [file] = found;
  if (!file)
    throw new Failure(`There is no file ${what}.`, 'Look for it: file-hosting list --search <part of the name>');
  if (found.length === 1) return file;
  const ids = found.map(({ id, created_at }) => `${id} (${formatTime(created_at)})`).join(', ');
  throw new Failure(`${found.length} files are called ${what}.`, `Give the id of one: ${ids}`);
}

/** Prints the newest files, or all of them. */
export async function list(
  hosting: FileHosting,
  flags: { readonly search?: string; readonly all?: boolean; readonly json?: boolean },
  calls: RetryOptions,
): Promise<void> {
  const { search, all = false, json = false } = flags;
  const print = json ? jsonLine : process.stdout.isTTY ? columnsOf : fieldsOf;
  const write = (file: FileRecord) => void process.stdout.write(`${print(file)}\n`);
  if (all) {
    for await (const file of hosting.listAll({ ...calls, search })) write(file);
    return;
  }
  const { items, total } = await hosting.list({ ...calls, search });
  for (const file of items) write(file);
  if (total === 0)
    note(
      search ? 'No file has this text in its name.' : 'There are no files yet. Upload one: file-hosting upload <file>',
    );
  if (items.length < total)
    note(painted('dim', `The newest ${items.length} of ${total} files. To list all of them: --all`));
}

/** The line for a person at a terminal. */
function columnsOf({ id, size_bytes, created_at, name }: FileRecord): string {
  return [formatTime(created_at), formatBytes(size_bytes).padStart(9), id, name].map(printable).join('  ');
}

/** The line for programs such as `cut`. The name comes last, because it may have spaces; `printable` replaces tabs in it. */
function fieldsOf({ id, size_bytes, created_at, name, url }: FileRecord): string {
  return [id, String(size_bytes), created_at, url, name].map(printable).join('\t');
}

export async function open(hosting: FileHosting, what: string, calls: RetryOptions): Promise<void> {
  const { url } = await findFile(hosting, what, calls);
  process.stdout.write(`${printable(url)}\n`);
  await openInBrowser(url);
}

/** Deletes files after the user has confirmed the deletion. */
export async function remove(
  hosting: FileHosting,
  what: readonly string[],
  flags: { readonly yes?: boolean },
  calls: RetryOptions,
): Promise<void> {
  if (!flags.yes && !isInteractive()) {
    throw new Failure('There is no terminal on which to confirm.', 'To delete without being asked, add --yes.', 2);
  }
  const files: FileRecord[] = [];
  for (const one of what) files.push(await findFile(hosting, one, calls));
  if (!flags.yes && !(await isConfirmed(files, calls))) {
    note('Nothing was deleted.');
    throw new Exit(1);
  }
  for (const { id, name } of files) {
    await hosting.delete(id, calls);
    note(`Deleted ${printable(name)}.`);
  }
}

async function isConfirmed(files: readonly FileRecord[], { signal }: RetryOptions): Promise<boolean> {
  for (const file of files) note(columnsOf(file));
  const answer = await ask(`Delete ${files.length === 1 ? 'it' : `these ${countOf(files.length, 'file')}`}? [y/N] `, {
    signal,
  });
  return /^y(es)?$/i.test(answer?.trim() ?? '');
}
