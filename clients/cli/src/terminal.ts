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

/** One line of JSON that is safe to print: the characters that {@link printable} replaces are escaped. */
export function jsonLine(value: unknown): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replace(UNPRINTABLE, escaped);
}

/** Prints a line on standard error, which gets all messages; standard output gets only results. */
export function note(line: string): void {
  process.stderr.write(`${line}\n`);
}

export const isInteractive = (): boolean => process.stdin.isTTY && process.stderr.isTTY;

/**
 * Asks a question on a terminal, or reads the next line of standard input without a terminal.
 * @param isSecret  true to hide what is typed.
 * @returns the answer, or undefined at the end of the input.
 * @throws the reason of `signal`, which Ctrl-C aborts.
 */
export async function ask(
  question: string,
  { signal, isSecret = false }: { signal?: AbortSignal | undefined; isSecret?: boolean },
): Promise<string | undefined> {
  const isTerminal = isInteractive();
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  // With `terminal: true`, Node turns off the echo of the terminal and writes the echo to `output`, which discards it. So a key is
  // never shown, even when standard error is redirected to a file.
  const lines = createInterface({ input: process.stdin, output: silent, terminal: process.stdin.isTTY && isSecret });
  // The question comes after the echo is turned off, because the answer may be pasted immediately.
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
