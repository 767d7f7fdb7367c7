import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { styleText } from 'node:util';

/** Colours text for standard error: only on a terminal, and not with `NO_COLOR`. */
export function painted(colour: 'red' | 'yellow' | 'dim', text: string): string {
  return styleText(colour, text, { stream: process.stderr });
}

/** True for a terminal that understands no escape sequences, such as the shell of an editor. On Windows no terminal sets TERM. */
export const isDumb = (): boolean => process.env.TERM === 'dumb' || (!process.env.TERM && process.platform !== 'win32');

/** Begins a new line on standard error, in place of what a terminal has shown for Ctrl-C. */
export function clearLine(): void {
  if (process.stderr.isTTY) process.stderr.write(isDumb() ? '\n' : '\r\x1b[K');
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
  const isHidden = process.stdin.isTTY && isSecret;
  // With `terminal: true`, Node turns off the echo of the terminal and writes the echo to `output`, which discards it. So a key is
  // never shown, even when standard error is redirected to a file.
  const lines = createInterface({ input: process.stdin, output: silent, terminal: isHidden });
  const onAbort = () => lines.close();
  signal?.addEventListener('abort', onAbort, { once: true });
  // Without echo the terminal sends Ctrl-Z as a character. The whole process group must stop, because the shell may wait for npx.
  lines.on('SIGTSTP', () => {
    process.stdin.setRawMode(false);
    process.kill(0, 'SIGTSTP');
    // A process group without a shell is not stopped.
    process.stdin.setRawMode(true);
  });
  const onContinued = () => {
    if (isHidden) {
      // The shell has turned the echo on, but Node would do nothing, because for Node it is off.
      process.stdin.setRawMode(false);
      process.stdin.setRawMode(true);
      // The user cannot see what was typed before the stop, so the answer begins anew.
      lines.write(null, { ctrl: true, name: 'e' });
      lines.write(null, { ctrl: true, name: 'u' });
    }
    if (isTerminal) process.stderr.write(question);
  };
  process.on('SIGCONT', onContinued);
  // The question comes last, because whoever sees it may paste the answer, or stop the command, at once.
  if (isTerminal) process.stderr.write(question);
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
    process.off('SIGCONT', onContinued);
    lines.close();
    if (isTerminal && isSecret) process.stderr.write('\n');
  }
}
