import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** Every document of the project, as a path from its root. */
export const DOCUMENTS = globSync(['*.md', '{clients/*,examples,local-aws,test,test/local-aws}/*.md', 'docs/**/*.md'], {
  cwd: ROOT,
});

/**
 * Finds the references of a document that lead nowhere. It checks paths in code spans that begin with a folder of the project, and
 * relative links with their headings. A link to a file of tests has as its text the name of one of them, which must be there as well.
 * @param page  its path from the root of the project.
 */
export function brokenReferences(page: string, text = readFileSync(join(ROOT, page), 'utf8')): string[] {
  const folders = readdirSync(ROOT, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? entry.name : [],
  );
  const paths = [...text.matchAll(/`([\w.-]+\/[\w./-]*)`/g)].flatMap(([, path = '']) => path);
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) => link);
  return [
    ...paths.filter((path) => folders.includes(path.split('/')[0] ?? '') && !existsSync(join(ROOT, path))),
    ...links.filter((link) => !/^https?:/.test(link) && !linkExists(link, page, text)),
    ...namedTests(text).flatMap(([file, name]) => (testExists(join(ROOT, dirname(page), file), name) ? [] : name)),
  ];
}

/** The tests that a text names by links, such as `[answers 404](../test/x.test.ts)`: the path and the name of each. */
export function namedTests(text: string): [file: string, name: string][] {
  const links = text.matchAll(/\[([^[\]]+)\]\(([^)\s]+\.(?:test|soak)\.ts)\)/g);
  return [...links].map(([, name = '', file = '']) => [file, name.replace(/\s+/g, ' ')]);
}

/** @param name  as the source has it, with `%s` for a value of a table; after the name of its group and ` > ` if it is in one. */
function testExists(path: string, name: string): boolean {
  if (!existsSync(path)) return false;
  const source = readFileSync(path, 'utf8').replaceAll("\\'", "'");
  return name.split(' > ').every((part) => ["'", '"', '`'].some((quote) => source.includes(quote + part + quote)));
}

function linkExists(link: string, page: string, text: string): boolean {
  const [path = '', heading] = link.split('#');
  if (path === '') return headingsOf(text).includes(heading ?? '');
  const target = join(ROOT, dirname(page), path);
  if (!existsSync(target)) return false;
  return heading === undefined || headingsOf(readFileSync(target, 'utf8')).includes(heading);
}

/** The anchors that GitHub makes of headings. */
function headingsOf(text: string): string[] {
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}
