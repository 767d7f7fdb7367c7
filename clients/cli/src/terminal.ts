import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { styleText } from 'node:util';

/** Colours text for standard error: only on a terminal, and not with `NO_COLOR`. */
export function painted(colour: 'red' | 'yellow' | 'dim', text: string): string {
  return styleText(colour, text, { stream: process.stderr });
}

const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\uFEFF]/gu;

/**
 * Replaces control characters and marks that change the direction of text, so that a name cannot change what the terminal
 * shows.
 */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, '\u{fffd}');
}

/** JSON in one line that is as safe to show: what {@link printable} replaces is escaped. */
export function jsonLine(value: unknown): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replace(UNPRINTABLE, escaped);
}

/** Prints a line on standard error, which has everything that is for a person and not a result. */
export function note(line: string): void {
  process.stderr.write(`${line}\n`);
}

export const isInteractive = (): boolean => process.stdin.isTTY && process.stderr.isTTY;

/**
 * Asks a question on a terminal, or reads the next line of standard input without a terminal.
 * @param isSecret  does not show what is typed.
 * @returns the answer, or undefined at the end of the input.
 * @throws the reason of `signal`, which Ctrl-C aborts.
 */
export async function ask(
  question: string,
  { signal, isSecret = false }: { signal?: AbortSignal | undefined; isSecret?: boolean },
): Promise<string | undefined> {
  const isTerminal = isInteractive();
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  // With `terminal`, Node turns the echo of the terminal off and echoes itself, to an output that shows nothing.
  // A key is not shown either when only standard error is a file.
  const lines = createInterface({ input: process.stdin, output: silent, terminal: process.stdin.isTTY && isSecret });
  // After the echo is off: the answer may be pasted at once.
  if (isTerminal) process.stderr.write(question);
  const onAbort = () => lines.close();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    const answer = await new Promise<string | undefined>((resolve) => {
      lines.once('line', resolve);
      lines.once('close', () => resolve(undefined));
      // Without echo the terminal sends Ctrl-C as a character.
      lines.once('SIGINT', () => process.emit('SIGINT'));
    });
    signal?.throwIfAborted();
    return answer;
  } finally {
    signal?.removeEventListener('abort', onAbort);
    lines.close();
    if (isTerminal && isSecret) process.stderr.write('\n');
  }
}
