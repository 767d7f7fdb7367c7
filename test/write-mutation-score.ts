import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Writes the table of the mutation score in test/README.md from the report of Stryker's last run. */

const ROOT = join(import.meta.dirname, '..');
const REPORT = join(ROOT, '.stryker/mutation.json');
const PAGE = join(ROOT, 'test/README.md');

interface Report {
  readonly files: Readonly<Record<string, { readonly mutants: readonly { readonly status: string }[] }>>;
}

interface Count {
  noticed: number;
  unnoticed: number;
}

const { files } = JSON.parse(readFileSync(REPORT, 'utf8')) as Report;
const folders = new Map<string, Count>();
const all: Count = { noticed: 0, unnoticed: 0 };
for (const [file, { mutants }] of Object.entries(files)) {
  const count = folders.get(dirname(file)) ?? { noticed: 0, unnoticed: 0 };
  folders.set(dirname(file), count);
  for (const { status } of mutants) {
    for (const each of [count, all]) {
      if (status === 'Killed' || status === 'Timeout') each.noticed++;
      if (status === 'Survived' || status === 'NoCoverage') each.unnoticed++;
    }
  }
}

const rowOf = (name: string, { noticed, unnoticed }: Count) =>
  `| ${name} | ${noticed + unnoticed} | ${noticed} | ${((100 * noticed) / (noticed + unnoticed)).toFixed(1)} % |`;
const table = [
  '| Folder | Changes | Noticed | Score |',
  '| --- | --- | --- | --- |',
  ...[...folders]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([folder, count]) => rowOf(`\`${folder}/\``, count)),
  rowOf('all', all),
].join('\n');
const page = readFileSync(PAGE, 'utf8');
writeFileSync(PAGE, page.replace(/(<!-- recorded: mutation -->\n)[\s\S]*?(<!-- end -->)/, `$1${table}\n$2`));
