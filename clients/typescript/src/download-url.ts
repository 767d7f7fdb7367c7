import type { FileRecord } from './types.ts';

/** A link that saves the file, under its name, where its direct link would show it. */
export function downloadUrl({ url }: Pick<FileRecord, 'url'>): string {
  return `${url}?download`;
}
