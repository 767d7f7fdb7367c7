import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { inherited } from './inherited.ts';

export interface AdminOutcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningAdmin {
  readonly child: ChildProcess;
  readonly outcome: Promise<AdminOutcome>;
}

const RUN = join(import.meta.dirname, '../../operator/admin/run.ts');

/** Starts `npm run admin -- …` as a separate process, without a terminal and with no credentials but those given. */
export function startAdmin(args: readonly string[], environment: Record<string, string>): RunningAdmin {
  const env = { ...inherited(), AWS_EC2_METADATA_DISABLED: 'true', HOME: '/nowhere', ...environment };
  const child = spawn(process.execPath, [RUN, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const outcome = Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]).then(
    ([stdout, stderr, [code]]) => ({ code, stdout, stderr }),
  );
  return { child, outcome };
}

/** Runs `npm run admin -- --local …` against a local service, and waits for its end. */
export function adminProcess({ dataDir }: { dataDir: string }, ...args: string[]): Promise<AdminOutcome> {
  return startAdmin(['--local', ...args], { DATA_DIR: dataDir }).outcome;
}

/** Like {@link adminProcess}, with `--json`. @returns the parsed output. @throws Error when the command fails. */
export async function adminProcessJson(
  service: { dataDir: string },
  ...args: string[]
): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await adminProcess(service, '--json', ...args);
  if (code !== 0) throw new Error(`admin ${args.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}
