import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { Refusal, UsageError } from './commands/command.ts';

/**
 * Asks a person, and takes nothing but a clear yes.
 * @throws UsageError when nobody can be asked; Refusal when the answer is another, or none.
 */
export async function confirm(
  question: string,
  { input, output }: { input: Readable & { readonly isTTY?: boolean }; output: Writable },
): Promise<void> {
  if (!input.isTTY) throw new UsageError('This cannot be undone, and there is no terminal to ask at: add --yes.');
  output.write(`${question} Type "yes": `);
  const lines = createInterface({ input });
  const answer = await new Promise<string>((resolve) => {
    lines.once('line', resolve);
    lines.once('close', () => resolve(''));
  });
  // A terminal that is still read from would keep the process alive.
  lines.close();
  if (answer.trim().toLowerCase() !== 'yes') throw new Refusal('Nothing was changed.');
}
