import {
  downloadUrl,
  type FileHosting,
  FileHostingError,
  type FileRecord,
  type UploadedFile,
} from '../../typescript/src/index.ts';
import { copyToClipboard } from './desktop.ts';
import { Exit, printFailure } from './failure.ts';
import { type FindFlags, findFiles, type LocalFile, wrongUse } from './find-files.ts';
import { countOf } from './format.ts';
import { type ProgressReport, progressOf } from './progress.ts';
import { jsonLine, note, painted, printable } from './terminal.ts';

export interface UploadFlags extends FindFlags {
  readonly type?: string;
  readonly idempotencyKey?: string;
  readonly download?: boolean;
  readonly json?: boolean;
  readonly copy?: boolean;
}

/** How many files are sent at the same time. */
const AT_ONCE = 4;

/**
 * After one of these errors no further files are sent, because they would probably get the same error. The client reports a rate limit as
 * an error only when it lasts until midnight, or after many waits.
 */
const ENDS_ALL: readonly unknown[] = ['unauthorized', 'forbidden', 'storage_limit_exceeded', 'rate_limit_exceeded'];

/**
 * Uploads files, several at a time, and prints their links on standard output, in the order of the files.
 * @throws Exit when something was not uploaded.
 */
export async function upload(
  hosting: FileHosting,
  paths: readonly string[],
  flags: UploadFlags,
  signal: AbortSignal,
): Promise<void> {
  checkFlags(flags);
  let missing = 0;
  const leftOut: string[] = [];
  const files = await findFiles(paths, flags, {
    missing(path, error) {
      missing++;
      printFailure(error, path);
    },
    leftOut: (path) => void leftOut.push(path),
  });
  if (flags.idempotencyKey !== undefined && files.length > 1) {
    throw wrongUse('--idempotency-key is for one file, and there are several.');
  }
  for (const path of leftOut) note(`left out: ${printable(path)}`);
  if (leftOut.length > 0) note(painted('dim', 'To upload what was left out as well: --all'));
  if (files.some(({ path }) => path === '-') && process.stdin.isTTY) note('Type the content, and end it with Ctrl-D.');
  const report = progressOf(files);
  signal.addEventListener('abort', () => report.end());
  const links = await sendAll(hosting, files, { report, flags, signal }).finally(() => report.end());
  const failed = missing + files.length - links.length;
  if (files.length + missing > 1)
    note(`${countOf(links.length, 'file')} uploaded${failed > 0 ? `, ${failed} not` : ''}.`);
  if (flags.copy && links.length > 0) {
    await copyToClipboard(links.join('\n'));
    note(links.length > 1 ? 'The links are in the clipboard.' : 'The link is in the clipboard.');
  }
  if (failed > 0) throw new Exit(1);
}

/** @throws Failure for values that the service would refuse. */
function checkFlags({ type, idempotencyKey }: UploadFlags): void {
  if (type !== undefined && !/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+ *(?:;[ -~]*)?$/.test(type)) {
    throw wrongUse('--type is no media type, such as image/png.');
  }
  if (idempotencyKey !== undefined && !/^[ -~]{1,255}$/.test(idempotencyKey)) {
    throw wrongUse('--idempotency-key must have 1 to 255 ASCII characters.');
  }
}

interface Sending {
  readonly report: ProgressReport;
  readonly flags: UploadFlags;
  readonly signal: AbortSignal;
}

/**
 * @returns the links of what was uploaded.
 * @throws the reason of `signal`, after every upload that was under way has removed what it had left in the service.
 */
async function sendAll(hosting: FileHosting, files: readonly LocalFile[], sending: Sending): Promise<string[]> {
  const { report, flags, signal } = sending;
  const results = new Results(files, (record, file) => report.print(() => printRecord(record, file, flags)));
  const left = new Set(files);
  const waiting = files.entries();
  const over = new Over();
  const work = async () => {
    for (const [at, file] of waiting) {
      if (over.isOver || signal.aborted) return;
      try {
        const { isReplay, isDeleted, ...stored } = await send(hosting, file, sending, over);
        if (isDeleted) report.print(() => note(`${printable(file.path)}: this key's file has been deleted since.`));
        else if (isReplay) report.print(() => note(`${printable(file.path)}: uploaded before, under this key.`));
        const record = flags.download ? { ...stored, url: downloadUrl(stored) } : stored;
        report.stored(file, record);
        left.delete(file);
        results.add(at, record);
      } catch (error) {
        if (signal.aborted) return;
        report.failed(file);
        results.add(at, undefined);
        const endsAll = error instanceof FileHostingError && ENDS_ALL.includes(error.code);
        // An error that ends all uploads is printed once, although several uploads fail with it.
        if (over.isOver && (endsAll || (error as FileHostingError).code === 'aborted')) continue;
        report.print(() => printFailure(error, files.length > 1 && !endsAll ? file.path : undefined));
        if (endsAll) over.end();
        else left.delete(file);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  results.end();
  signal.throwIfAborted();
  const names = [...left].map(({ path }) => `not uploaded: ${printable(path)}`);
  if (files.length > 1 && names.length > 0) report.print(() => note(names.join('\n')));
  return results.links;
}

/** Ends the uploads that wait for their next request, as soon as an error has ended all uploads. Uploads whose bytes move go on. */
class Over {
  isOver = false;
  readonly #waiting = new Set<AbortController>();

  end(): void {
    this.isOver = true;
    for (const upload of this.#waiting) upload.abort();
  }

  waits(upload: AbortController): void {
    this.#waiting.add(upload);
    if (this.isOver) upload.abort();
  }

  goesOn(upload: AbortController): void {
    this.#waiting.delete(upload);
  }
}

/** Prints the records in the order of the files: each one as soon as the uploads of all files before it have ended. */
class Results {
  readonly #files: readonly LocalFile[];
  readonly #print: (record: FileRecord, file: LocalFile) => void;
  /** The record of each file whose upload has ended; undefined when it failed. */
  readonly #ended = new Map<number, FileRecord | undefined>();
  #next = 0;

  constructor(files: readonly LocalFile[], print: (record: FileRecord, file: LocalFile) => void) {
    this.#files = files;
    this.#print = print;
  }

  add(at: number, record: FileRecord | undefined): void {
    this.#ended.set(at, record);
    while (this.#ended.has(this.#next)) this.#printNext();
  }

  /** Prints the remaining records, which come after a file that was not uploaded. */
  end(): void {
    while (this.#next < this.#files.length) this.#printNext();
  }

  #printNext(): void {
    const [record, file] = [this.#ended.get(this.#next), this.#files[this.#next]];
    this.#next++;
    if (record && file) this.#print(record, file);
  }

  get links(): string[] {
    return this.#files.flatMap((_, at) => this.#ended.get(at)?.url ?? []);
  }
}

async function send(
  hosting: FileHosting,
  file: LocalFile,
  { report, signal, flags: { type, idempotencyKey } }: Sending,
  over: Over,
): Promise<UploadedFile> {
  const upload = new AbortController();
  return hosting.upload(await file.open(), {
    name: file.name,
    type,
    idempotencyKey,
    signal: AbortSignal.any([signal, upload.signal]),
    onProgress: ({ sentBytes }) => {
      over.goesOn(upload);
      report.sent(file, sentBytes);
    },
    onWait: (wait) => {
      over.waits(upload);
      if (!over.isOver) report.waits(wait);
    },
  });
}

/** Several files of a folder may have the same name, so their paths are printed as well. */
function printRecord(record: FileRecord, { path, isInFolder }: LocalFile, { json = false }: UploadFlags): void {
  const fields = isInFolder ? [record.url, path] : [record.url];
  process.stdout.write(`${json ? jsonLine({ ...record, path }) : fields.map(printable).join('\t')}\n`);
}
