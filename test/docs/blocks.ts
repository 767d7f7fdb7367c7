/** A fenced block of a document. */
export interface Block {
  /** The text after the fence, such as `sh`; may be empty. */
  readonly language: string;
  readonly code: string;
  /** The number of its first line in the page. */
  readonly line: number;
  /** The mark before the block. If there is none, the mark at the top of the page, which applies to all blocks of the page. */
  readonly mark: Mark | undefined;
}

/** Why the tests of the examples do not run a block. */
interface Mark {
  /** The text of the mark: `not run: <reason>`, or `checked by <test files>`. */
  readonly text: string;
  /** True when the mark applies to every block of the page. */
  readonly isOfPage: boolean;
}

const MARK = /<!-- ((?:not run: |checked by )[^>]*) -->/;
const FENCED = /^( *)```([\w-]*)\n([\s\S]*?)^\1```$/gm;

/**
 * Finds the fenced blocks of a Markdown page. A mark is an HTML comment: in the line before a block, or before the first
 * heading for all blocks of the page.
 */
export function blocksOf(page: string): Block[] {
  const [, ofPage] = MARK.exec(page.slice(0, page.search(/^#/m))) ?? [];
  return [...page.matchAll(FENCED)].map(([, indent = '', language = '', text = ''], at, all) => {
    const before = page.slice(0, all[at]?.index).trimEnd();
    const [, own] = new RegExp(`${MARK.source}$`).exec(before) ?? [];
    const mark = own ?? ofPage;
    return {
      language,
      code: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      line: page.slice(0, all[at]?.index).split('\n').length,
      mark: mark === undefined ? undefined : { text: mark, isOfPage: own === undefined },
    };
  });
}
