import { SingleBar } from 'cli-progress';
import type { FileRecord, Wait } from '../../typescript/src/index.ts';
import type { LocalFile } from './find-files.ts';
import { formatBytes, formatDuration } from './format.ts';
import { isDumb, note, printable } from './terminal.ts';
import { Waits } from './waits.ts';

/** A file that is sent or received. */
export type Item = Pick<LocalFile, 'path' | 'name' | 'size'>;

/** Reports the progress of uploads, or of a download, on standard error. */
export interface ProgressReport {
  /** @param bytes  how many bytes of the file the network has taken in this attempt. */
  sent(file: Item, bytes: number): void;
  waits(wait: Wait): void;
  stored(file: Item, record: FileRecord): void;
  failed(file: Item): void;
  /** Prints other output, without mixing it with the progress. */
  print(write: () => void): void;
  end(): void;
}

export const progressOf = (files: readonly Item[]): ProgressReport =>
  process.stderr.isTTY && !isDumb() && files.length > 0 ? new ProgressBar(files) : new ProgressLines(files);

const BAR_COLUMNS_MAX = 30;

/** No speed is shown before this many seconds have passed, because at first many of the sent bytes are only in buffers of this machine. */
const FIRST_SPEED_AFTER_SECONDS = 1;

/** One line at the bottom of a terminal for all files together, with speed and time left. */
class ProgressBar implements ProgressReport {
  readonly #bar: SingleBar;
  readonly #files: readonly Item[];
  /** Undefined when one of the files is a pipe. */
  readonly #totalBytes: number | undefined;
  readonly #startedAt = Date.now();
  readonly #waits = new Waits();
  readonly #bytes = new Map<Item, number>();
  #before = 0;
  #isOver = false;
  #reason = '';
  #ended = 0;

  constructor(files: readonly Item[]) {
    this.#files = files;
    const isKnown = files.every(({ size }) => size !== undefined);
    this.#totalBytes = isKnown ? files.reduce((sum, { size = 0 }) => sum + size, 0) : undefined;
    this.#bar = new SingleBar({
      stream: process.stderr,
      format: (_options, { maxWidth }) => this.#line(maxWidth - 1),
      clearOnComplete: true,
      // Cuts the line at the width of the terminal, without changing the terminal's own setting.
      linewrap: true,
      gracefulExit: false,
    });
    this.#bar.start(1, 0);
    process.once('exit', () => this.#bar.stop());
  }

  /** The text of the line. @param columns  how many characters fit into it. */
  #line(columns: number): string {
    const sent = [...this.#bytes.values()].reduce((sum, bytes) => sum + bytes, 0);
    const total = this.#totalBytes;
    const files = this.#files.length > 1 ? `${this.#ended} of ${this.#files.length} files` : '';
    const text = [this.#amount(sent), files, this.#pace(sent)].filter(Boolean).join('  ');
    if (total === undefined) return text;
    const part = total === 0 ? this.#ended / this.#files.length : Math.min(1, sent / total);
    const percent = `${Math.floor(part * 100)} %`.padStart(5);
    const room = Math.min(BAR_COLUMNS_MAX, columns - text.length - percent.length - 5);
    if (room < 5) return `${percent}  ${text}`;
    const filled = '='.repeat(Math.round(part * room));
    return `[${filled.padEnd(room)}] ${percent}  ${text}`;
  }

  #amount(sent: number): string {
    return this.#totalBytes === undefined
      ? formatBytes(sent)
      : `${formatBytes(sent)} of ${formatBytes(this.#totalBytes)}`;
  }

  /** What the uploads wait for, or their speed and the time left. */
  #pace(sent: number): string {
    const { secondsLeft } = this.#waits;
    if (secondsLeft > 0) return `${this.#reason}, ${formatDuration(secondsLeft)}`;
    if (sent === this.#totalBytes) return 'finishing';
    const seconds = (Date.now() - this.#startedAt) / 1_000;
    if (sent === 0 || seconds < FIRST_SPEED_AFTER_SECONDS) return '';
    const perSecond = (sent - this.#before) / seconds;
    if (perSecond <= 0) return '';
    const speed = `${formatBytes(perSecond)}/s`;
    if (this.#totalBytes === undefined) return speed;
    return `${speed}  ${formatDuration(Math.max(0, this.#totalBytes - sent) / perSecond)} left`;
  }

  sent(file: Item, bytes: number): void {
    // Only a download begins with bytes: those of an earlier one, which this one continues.
    if (this.#bytes.size === 0) this.#before = bytes;
    this.#bytes.set(file, bytes);
  }

  waits(wait: Wait): void {
    this.#reason = this.#waits.add(wait) ?? this.#reason;
  }

  stored(file: Item, { size_bytes }: FileRecord): void {
    this.#bytes.set(file, size_bytes);
    this.#ended++;
  }

  failed(file: Item): void {
    this.#bytes.set(file, file.size ?? 0);
    this.#ended++;
  }

  print(write: () => void): void {
    this.#bar.stop();
    write();
    if (!this.#isOver) this.#bar.start(1, 0);
  }

  end(): void {
    this.#isOver = true;
    this.#bar.stop();
  }
}

/** Without a terminal, the progress of a slow upload is printed this often. */
const PRINT_EVERY_MS = 15_000;

/** Prints a line for each event, where standard error is not a terminal. */
class ProgressLines implements ProgressReport {
  readonly #files: readonly Item[];
  readonly #waits = new Waits();
  #ended = 0;
  #printedAt = Date.now();

  constructor(files: readonly Item[]) {
    this.#files = files;
  }

  #count(): string {
    return this.#files.length > 1 ? `[${this.#ended}/${this.#files.length}] ` : '';
  }

  sent({ path, size }: Item, bytes: number): void {
    if (bytes === 0 || Date.now() - this.#printedAt < PRINT_EVERY_MS) return;
    this.#printedAt = Date.now();
    const of = size === undefined ? '' : ` of ${formatBytes(size)}`;
    note(`${this.#count()}${printable(path)}: ${formatBytes(bytes)}${of}`);
  }

  waits(wait: Wait): void {
    this.#waits.mention(wait);
    // A line about the wait was just printed, so no line about a slow upload is printed before the wait is over.
    this.#printedAt = Math.max(this.#printedAt, Date.now() + wait.seconds * 1_000);
  }

  stored({ path, name }: Item, { size_bytes }: FileRecord): void {
    this.#ended++;
    note(`${this.#count()}${printable(path === '-' ? name : path)}: uploaded, ${formatBytes(size_bytes)}`);
  }

  failed(): void {
    this.#ended++;
  }

  print(write: () => void): void {
    write();
  }

  end(): void {}
}
