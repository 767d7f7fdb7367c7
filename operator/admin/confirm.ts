import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { Refusal, UsageError } from './commands/command.ts';

/**
 * Asks the operator to type "yes".
 * @throws UsageError when there is no terminal; Refusal for any other answer, or none.
 */
export async function confirm(
  question: string,
  { input, output }: { input: Readable & { readonly isTTY?: boolean }; output: Writable },
): Promise<void> {
  if (!input.isTTY)
    throw new UsageError('This cannot be undone, and there is no terminal on which to confirm: add --yes.');
  output.write(`${question} Type "yes": `);
  const lines = createInterface({ input });
  const answer = await new Promise<string>((resolve) => {
    lines.once('line', resolve);
    lines.once('close', () => resolve(''));
  });
  // If it stayed open, the input of the terminal would keep the process running.
  lines.close();
  if (answer.trim().toLowerCase() !== 'yes') throw new Refusal('Nothing was changed.');
}
