import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** Hears of every line a function writes, and of what the local environment says of the function. */
export type LogListener = (entry: { readonly function: string; readonly line: string }) => void;

/** Passes on a stream line by line, the last one also when it has no end. */
export function forwardLines(stream: Readable | null, label: string, onLog: LogListener): void {
  if (!stream) return;
  const lines = createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY });
  lines.on('line', (line) => onLog({ function: label, line }));
}
