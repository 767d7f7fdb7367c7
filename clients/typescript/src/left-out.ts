/**
 * What a folder usually contains without its owner thinking of it: version control, installed packages and caches, files of the desktop, and
 * secrets. Links are public, so the command and the dashboard upload these only when they are asked for.
 */
const NAMES = new Set([
  ...['.git', '.svn', '.hg', '.bzr', 'cvs'],
  ...[
    'node_modules',
    '__pycache__',
    'venv',
    '.venv',
    '.tox',
    '.mypy_cache',
    '.pytest_cache',
    '.ruff_cache',
    '.gradle',
    '.terraform',
  ],
  ...['.ds_store', '.appledouble', '.spotlight-v100', '.trashes', '.fseventsd', '.temporaryitems', '__macosx'],
  ...['thumbs.db', 'ehthumbs.db', 'desktop.ini', '$recycle.bin', 'system volume information', '.directory'],
  ...['.ssh', '.gnupg', '.aws', '.netrc', '.npmrc', '.pypirc', '.git-credentials', '.htpasswd'],
]);

/** `.env` and its variants, but not a template such as `.env.example`; and what macOS and office programs put beside a file. */
const PATTERN = /^(?:\.env(?:\.(?!example$|sample$|template$|dist$).*)?|\._.*|~\$.*|\.~lock\..*#)$/;

/** @param name  the last part of a path. */
export function isLeftOut(name: string): boolean {
  const folded = name.toLowerCase();
  return NAMES.has(folded) || PATTERN.test(folded);
}
