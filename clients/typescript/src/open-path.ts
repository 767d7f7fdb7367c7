import { FileHostingError, invalid, NO_PATHS } from './error.ts';
import { loadNode, type Path } from './load-node.ts';

/** The path of a `file:` URL. */
export async function pathOf(url: URL): Promise<string> {
  if (url.protocol !== 'file:') throw invalid('A URL must begin with file:. Fetch any other URL, and upload its body');
  const { fileURLToPath } = await loadNode('node:url');
  return fileURLToPath(url);
}

/**
 * A Blob that reads the file in pieces, and fails when the file was changed after it was opened. If the file does not have the size that its
 * system says, as in `/proc`, a stream.
 */
export async function openPath(path: Path): Promise<Blob | AsyncIterable<Uint8Array>> {
  if (typeof document !== 'undefined') throw invalid(NO_PATHS);
  try {
    const [{ openAsBlob, createReadStream }, { stat, open }] = await Promise.all([
      loadNode('node:fs'),
      loadNode('node:fs/promises'),
    ]);
    const stats = await stat(path);
    if (!stats.isFile()) throw new Error('it is not a file');
    const file = await open(path);
    const { bytesRead } = await file
      .read(new Uint8Array(2), 0, 2, Math.max(0, stats.size - 1))
      .finally(() => file.close());
    // The last byte, and none after it.
    if (bytesRead === Math.min(1, stats.size)) return await openAsBlob(path);
    return createReadStream(path);
  } catch (cause) {
    throw new FileHostingError('unreadable', {
      cause,
      what: `${path} cannot be read`,
      advice: 'Check that the file exists and that you may read it.',
    });
  }
}
