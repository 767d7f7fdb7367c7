import { statfsSync } from 'node:fs';

/** The free space that each kind of write leaves on the disk. Content leaves room for the database, so that files can still be deleted. */
export const FREE_BYTES = {
  /** A start writes some 60 MB of bundles. */
  start: 128 * 1024 * 1024,
  content: 64 * 1024 * 1024,
};

export class DiskFull extends Error {}

/** @throws DiskFull with a sentence for the log when the disk of a directory has less than this of free space. */
export function requireSpace(directory: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(directory);
  if (bavail * bsize >= bytes) return;
  const [free, needed] = [bavail * bsize, bytes].map((size) => Math.floor(size / 1024 / 1024));
  throw new DiskFull(`The disk of ${directory} is full: ${free} MiB are free, and ${needed} MiB are needed.`);
}
