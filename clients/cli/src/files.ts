import {
  downloadUrl,
  type FileHosting,
  FileHostingError,
  type FileRecord,
  type RetryOptions,
} from '../../typescript/src/index.ts';
import { openInBrowser } from './desktop.ts';
import { Exit, Failure, printFailure } from './failure.ts';
import { countOf, formatBytes, formatTime } from './format.ts';
import { ask, isInteractive, jsonLine, note, painted, printable } from './terminal.ts';

const ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** The part of a link that says which file it is. The service ignores the name after it and any query, so they may differ. */
const TOKEN = /\/uploads\/([0-9A-Za-z]{22,})(?:[/?#]|$)/;

/** Spellings that look the same become equal: composed and decomposed accents (macOS), and all kinds of spaces. */
const spelled = (name: string) => name.normalize('NFC').replace(/\p{Zs}/gu, ' ');

/**
 * Finds a file by its id, its link, or its name. The name must belong to one file only.
 * @throws Failure when there is no such file, or several files have the name.
 */
export async function findFile(hosting: FileHosting, what: string, calls: RetryOptions): Promise<FileRecord> {
  if (ID.test(what)) return hosting.get(what.toLowerCase(), calls);
  const [, token] = TOKEN.exec(what) ?? [];
  const found: FileRecord[] = [];
  for await (const file of hosting.listAll({ ...calls, ...(!token && { search: what }) })) {
    if (token ? TOKEN.exec(file.url)?.[1] === token : spelled(file.name) === spelled(what)) found.push(file);
    if (token && found.length > 0) break;
  }
  const [file] = found;
  if (!file)
    throw new Failure(`There is no file ${what}.`, 'Look for it: file-hosting list --search <part of the name>');
  if (found.length === 1) return file;
  const ids = found.map(({ id, created_at }) => `${id} (${formatTime(created_at)})`).join(', ');
  throw new Failure(`${found.length} files are called ${what}.`, `Give the id of one: ${ids}`);
}

/**
 * Calls `work` for each of several things that the user has named; one that does not exist does not keep the others from being done.
 * @returns how many do not exist.
 * @throws whatever else `work` throws; and any error if there is only one thing.
 */
export async function forEach<Thing>(
  things: readonly Thing[],
  work: (thing: Thing) => Promise<void>,
  nameOf: (thing: Thing) => string,
): Promise<number> {
  let missing = 0;
  for (const thing of things) {
    try {
      await work(thing);
    } catch (error) {
      const isMissing = error instanceof Failure || (error instanceof FileHostingError && error.code === 'not_found');
      if (!isMissing || things.length === 1) throw error;
      missing++;
      printFailure(error, nameOf(thing));
    }
  }
  return missing;
}

export interface ListFlags {
  readonly search?: string;
  readonly limit?: number;
  readonly all?: boolean;
  readonly json?: boolean;
  readonly download?: boolean;
}

/** The most files that the service puts on a page. */
const PAGE_MAX = 100;

/** Prints the newest files, or all of them. */
export async function list(hosting: FileHosting, flags: ListFlags, calls: RetryOptions): Promise<void> {
  const { search, limit = 50, all = false, json = false, download = false } = flags;
  const print = json ? jsonLine : process.stdout.isTTY ? linesOf : fieldsOf;
  const write = (file: FileRecord) =>
    void process.stdout.write(`${print(download ? { ...file, url: downloadUrl(file) } : file)}\n`);
  if (all) {
    for await (const file of hosting.listAll({ ...calls, search })) write(file);
    return;
  }
  const { items, total } = await hosting.list({ ...calls, search, limit: Math.min(limit, PAGE_MAX) });
  let printed = 0;
  for await (const file of limit > PAGE_MAX ? hosting.listAll({ ...calls, search }) : items) {
    if (printed === limit) break;
    write(file);
    printed++;
  }
  if (total === 0)
    note(
      search ? 'No file has this text in its name.' : 'There are no files yet. Upload one: file-hosting upload <file>',
    );
  if (printed < total) note(painted('dim', `The newest ${printed} of ${total} files. To list all of them: --all`));
}

/** The lines for a person at a terminal. */
const linesOf = (file: FileRecord) => `${columnsOf(file)}\n  ${printable(file.url)}`;

function columnsOf({ id, size_bytes, created_at, name }: FileRecord): string {
  return [formatTime(created_at), formatBytes(size_bytes).padStart(9), id, name].map(printable).join('  ');
}

/** The line for programs such as `cut`. The name comes last, because it may have spaces; `printable` replaces tabs in it. */
function fieldsOf({ id, size_bytes, created_at, name, url }: FileRecord): string {
  return [id, String(size_bytes), created_at, url, name].map(printable).join('\t');
}

export async function open(
  hosting: FileHosting,
  what: string,
  flags: { readonly download?: boolean },
  calls: RetryOptions,
): Promise<void> {
  const file = await findFile(hosting, what, calls);
  const url = flags.download ? downloadUrl(file) : file.url;
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
  // Several names may mean the same file.
  const files = new Map<string, FileRecord>();
  const find = async (one: string) => {
    const file = await findFile(hosting, one, calls);
    files.set(file.id, file);
  };
  const unknown = await forEach(what, find, (one) => one);
  const found = [...files.values()];
  if (found.length > 0 && !flags.yes && !(await isConfirmed(found, calls))) {
    note('Nothing was deleted.');
    throw new Exit(1);
  }
  const removeOne = async ({ id, name }: FileRecord) => {
    await hosting.delete(id, calls);
    note(`Deleted ${printable(name)}.`);
  };
  const gone = await forEach(found, removeOne, ({ name }) => name);
  if (unknown + gone > 0) throw new Exit(1);
}

async function isConfirmed(files: readonly FileRecord[], { signal }: RetryOptions): Promise<boolean> {
  for (const file of files) note(columnsOf(file));
  const answer = await ask(`Delete ${files.length === 1 ? 'it' : `these ${countOf(files.length, 'file')}`}? [y/N] `, {
    signal,
  });
  return /^y(es)?$/i.test(answer?.trim() ?? '');
}
