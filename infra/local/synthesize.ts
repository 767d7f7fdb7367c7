import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const ROOT = join(import.meta.dirname, '../..');

/** The checks of the templates would be half of the start; `npm run synth` and a test do them. */
const SETTINGS = { CDK_CONTEXT_JSON: JSON.stringify({ stage: 'dev' }), CDK_VALIDATION: 'false' };

/**
 * Synthesizes the stacks of the stage `dev` as `npm run synth` does, with the limits of our own environment.
 * @param directory  where to; emptied first.
 * @throws Error with the synthesizer's own sentence, such as the name of a limit that is out of bounds.
 */
export async function synthesize(directory: string, signal?: AbortSignal): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  const child = spawn(process.execPath, ['infra/app.ts'], {
    cwd: ROOT,
    env: { ...process.env, ...SETTINGS, CDK_OUTDIR: directory },
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(signal && { signal }),
  });
  const [complaint, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  if (code === 0) return;
  // A bundle that fails has a line for each mistake; where in the synthesizer it was thrown helps nobody.
  const sentence = /^\w*Error: ([\s\S]*?)\n {4}at /m.exec(complaint)?.[1];
  throw new Error(sentence ?? `infra/app.ts ended with ${code}: ${complaint.trim()}`);
}
