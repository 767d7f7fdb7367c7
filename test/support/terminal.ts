import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { spawn } from '@lydell/node-pty';
import { inherited } from './inherited.ts';
import type { TestAccount } from './service.ts';

/** The program of the command, which `npx file-hosting` starts. */
export const COMMAND = join(import.meta.dirname, '../../clients/cli/bin/file-hosting.js');

/** The variables of a command that uses an account. */
export const commandVariables = ({ key }: Pick<TestAccount, 'key'>, url: string): Record<string, string> => ({
  FILE_HOSTING_URL: url,
  FILE_HOSTING_KEY: key,
});

/** How long a test waits for a text on the screen. */
const PATIENCE_MS = 120_000;

/** A program in a pseudo-terminal. */
export interface Terminal {
  /** Everything that was written so far, with control characters. */
  readonly raw: string;
  /** The same text without control characters. A line that the program draws several times is in the text several times. */
  readonly text: string;
  /** What the terminal shows at present, without spaces at the ends of lines. */
  readonly screen: string;
  /**
   * Resolves when the text matches.
   * @throws Error with the text when it does not match in time, or the program ends before it matches.
   */
  shows(pattern: RegExp): Promise<void>;
  type(keys: string): void;
  /** The exit code, when the program has ended. */
  readonly ended: Promise<number>;
}

export const CTRL_C = '\x03';
export const CTRL_Z = '\x1a';

/** Starts a program in a pseudo-terminal. */
export function openTerminal(
  [program, ...args]: readonly [string, ...string[]],
  { env = {}, cwd, cols = 80 }: { env?: Record<string, string | undefined>; cwd: string; cols?: number },
): Terminal {
  const child = spawn(program, args, {
    cols,
    rows: 24,
    cwd,
    env: { ...inherited(), TERM: 'xterm-256color', ...env },
  });
  let raw = '';
  let hasEnded = false;
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of listeners) listener();
  };
  child.onData((data) => {
    raw += data;
    tell();
  });
  const ended = new Promise<number>((resolve) => {
    child.onExit(({ exitCode }) => {
      hasEnded = true;
      tell();
      resolve(exitCode);
    });
  });
  // The bar is redrawn from the first column: CSI 1 G.
  const textOf = () => stripVTControlCharacters(raw.replaceAll('\x1b[1G', '\n').replaceAll('\r', ''));
  return {
    get raw() {
      return raw;
    },
    get text() {
      return textOf();
    },
    get screen() {
      return screenOf(raw);
    },
    shows: (pattern) =>
      new Promise((resolve, reject) => {
        const settle = (error?: Error) => {
          clearTimeout(timer);
          listeners.delete(look);
          if (error) reject(error);
          else resolve();
        };
        const fail = (why: string) =>
          settle(new Error(`${why}, and the screen does not match ${pattern}:\n${textOf()}`));
        const look = () => {
          if (pattern.test(textOf())) settle();
          else if (hasEnded) fail('the program has ended');
        };
        const timer = setTimeout(() => fail('the time is over'), PATIENCE_MS);
        listeners.add(look);
        look();
      }),
    type: (keys) => child.write(keys),
    ended,
  };
}

/** What a terminal shows after some output. It knows only what the command uses: moves to the start of the line, and erasing. */
function screenOf(raw: string): string {
  const lines: string[] = [];
  let line = '';
  let column = 0;
  // The escape character is made visible, as ␛.
  for (const [part] of raw.replaceAll('\x1b', '␛').matchAll(/␛(?:\[[\d;?]*[A-Za-z]|[78])|\r|\n|[^␛\r\n]+/g)) {
    if (part === '\n') lines.push(line);
    if (part === '\n' || part === '␛[2K') line = '';
    else if (part === '␛[K' || part === '␛[0K') line = line.slice(0, column);
    if (part === '\n' || part === '\r' || part === '␛[1G') column = 0;
    else if (!part.startsWith('␛')) {
      line = line.padEnd(column).slice(0, column) + part + line.slice(column + part.length);
      column += part.length;
    }
  }
  return [...lines, line].map((one) => one.trimEnd()).join('\n');
}
