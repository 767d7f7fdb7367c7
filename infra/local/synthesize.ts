import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';

const ROOT = join(import.meta.dirname, '../..');

/** The checks of the templates would take half of the time of a start. `npm run synth` and a test do them. */
const SETTINGS = { STAGE: 'local', CDK_CONTEXT_JSON: '{}', CDK_VALIDATION: 'false' };

/** The file in the output directory that has the fingerprint of the inputs. */
const FINGERPRINT_FILE = 'made-of.txt';

/**
 * Like {@link synthesize}, but keeps the output of an earlier call with the same files and the same environment variables. If we die
 * in between, the next start synthesizes again, because the fingerprint of the inputs is written last.
 */
export async function synthesizeWhenChanged(directory: string, signal?: AbortSignal): Promise<void> {
  const inputs = fingerprint({ root: ROOT, except: dirname(directory), environment: process.env });
  const note = join(directory, FINGERPRINT_FILE);
  const earlierInputs = await readFile(note, 'utf8').catch(() => undefined);
  if (earlierInputs === inputs) return;
  await synthesize(directory, signal);
  await writeFile(note, inputs);
}

/** Folders that the stacks do not read. The stacks also do not read files and folders whose names begin with a dot. */
const NO_SOURCES = new Set(['cdk.out', 'coverage', 'dist', 'docs', 'node_modules', 'test']);

/**
 * A text that differs when something that the stacks may read has changed: a file of the project, the installed packages, the version of
 * Node, or an environment variable. Any variable counts, because the stacks may read any.
 * @param project  `except` is the data directory, which may be in the project.
 */
export function fingerprint(project: {
  readonly root: string;
  readonly except: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}): string {
  const { root, except, environment } = project;
  const describe = (path: string): string[] => {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (!stats?.isDirectory()) return [`${path} ${stats?.size} ${stats?.mtimeMs}`];
    const names = readdirSync(path).filter((name) => !name.startsWith('.') && !NO_SOURCES.has(name));
    return names.flatMap((name) => (join(path, name) === except ? [] : describe(join(path, name))));
  };
  const files = [...describe(root), ...describe(join(root, 'node_modules/.package-lock.json'))];
  const inputs = [process.version, files.sort(), Object.entries(environment).sort()];
  return createHash('sha256').update(JSON.stringify(inputs)).digest('hex');
}

/**
 * Synthesizes the stacks of the stage `local` as `npm run synth` does, with the limits in this process's environment variables.
 * @param directory  the output directory; it is emptied first.
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
  // The message of a failed bundle has a line for each mistake. The stack trace of the synthesizer is left out.
  const sentence = /^\w*Error: ([\s\S]*?)\n {4}at /m.exec(complaint)?.[1];
  throw new Error(sentence ?? `infra/app.ts ended with ${code}: ${complaint.trim()}`);
}
