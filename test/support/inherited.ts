/** What a program that a test starts has of the test's environment; the rest of it is no business of the program's. */
export function inherited(): Record<string, string | undefined> {
  const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE } = process.env;
  return { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE };
}
