/** The variables of the test's environment that a program started by a test inherits. It gets no others. */
export function inherited(): Record<string, string | undefined> {
  const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, FREE_PORTS } = process.env;
  return { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, FREE_PORTS };
}
