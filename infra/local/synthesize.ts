import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const ROOT = join(import.meta.dirname, '../..');

/** The checks of the templates would take half of the time of a start. `npm run synth` and a test do them. */
const SETTINGS = { STAGE: 'local', CDK_CONTEXT_JSON: '{}', CDK_VALIDATION: 'false' };

/** Node waits longer before each of them. Together that is half a minute. */
const RETRIES = 25;

/**
 * Synthesizes the stacks of the stage `local` as `npm run synth` does, with the limits in this process's environment variables.
 * @param directory  the output directory; it is emptied first.
 * @throws Error with the synthesizer's own sentence, such as the name of a limit that is out of bounds.
 */
export async function synthesize(directory: string, signal?: AbortSignal): Promise<void> {
  // The synthesizer of a start that was killed may still be writing for a moment.
  await rm(directory, { recursive: true, force: true, maxRetries: RETRIES });
  const child = spawn(process.execPath, ['infra/app.ts'], {
    cwd: ROOT,
    env: { ...process.env, ...SETTINGS, CDK_OUTDIR: directory },
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(signal && { signal }),
  });
  const [complaint, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  if (code === 0) return;
  // The message of a failed bundle has a line for each mistake. The stack trace of the synthesizer is left out.
  const sentence = /^\w*Error: ([\s\S]*?)\n {4}at /m.exec(complaint)?.[1];
  throw new Error(sentence ?? `infra/app.ts ended with ${code}: ${complaint.trim()}`);
}
