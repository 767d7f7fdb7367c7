import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Edit } from './flip.ts';

export const ROOT = join(import.meta.dirname, '../..');

/** Everything git knows or would take, with the packages of the original. Goes when the process ends. */
export function copyProject(): string {
  const copy = mkdtempSync(join(tmpdir(), 'file-hosting-flips-'));
  process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  for (const file of files.split('\0').filter((name) => name !== '' && existsSync(join(ROOT, name)))) {
    cpSync(join(ROOT, file), join(copy, file));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Makes edits, no two in one file, in a copy for as long as `look` takes. */
export async function edited<T>(copy: string, edits: readonly Edit[], look: () => Promise<T>): Promise<T> {
  const originals = new Map(edits.map(({ file }) => [join(copy, file), readFileSync(join(copy, file), 'utf8')]));
  for (const { file, find, replace } of edits) {
    const path = join(copy, file);
    writeFileSync(
      path,
      (originals.get(path) ?? '').replace(find, () => replace),
    );
  }
  try {
    return await look();
  } finally {
    for (const [path, source] of originals) writeFileSync(path, source);
  }
}
