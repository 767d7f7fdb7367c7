/** What programs and systems make for themselves, in lower case. */
const BY_PROGRAMS = new Set([
  'node_modules',
  '__pycache__',
  'venv',
  '__macosx',
  'thumbs.db',
  'ehthumbs.db',
  'desktop.ini',
  '$recycle.bin',
  'system volume information',
]);

/**
 * True for a file or folder that is not uploaded with the folder it is in, unless the user asks for it: hidden ones, such as `.git`, `.env`
 * and `.DS_Store`, which may hold secrets and which their owner seldom sees; what programs make for themselves; and the locks of open
 * Office documents. The dashboard and the command leave out the same names.
 * @param name  of the file or folder, without its path.
 */
export function isLeftOut(name: string): boolean {
  return name.startsWith('.') || name.startsWith('~$') || BY_PROGRAMS.has(name.toLowerCase());
}
