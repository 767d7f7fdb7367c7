export interface Dropped {
  readonly files: readonly File[];
  /** The names of the items that the browser could not read, such as a broken link or a folder without permission. */
  readonly unreadable: readonly string[];
}

/**
 * Reads the files that were dropped or pasted, including those in folders at any depth.
 * Call it before the event's handler returns, because the browser empties `transfer` afterwards.
 */
export async function droppedFiles(transfer: DataTransfer): Promise<Dropped> {
  const entries = [...transfer.items].flatMap((item) => (item.kind === 'file' ? (item.webkitGetAsEntry() ?? []) : []));
  // Content pasted from the clipboard, such as a screenshot, has no file system entry.
  if (entries.length === 0) return { files: [...transfer.files], unreadable: [] };
  const unreadable: string[] = [];
  const files = await Promise.all(entries.map((entry) => filesOf(entry, unreadable)));
  return { files: files.flat(), unreadable };
}

/** Reads the files of an entry. @param unreadable  receives the names of the items that cannot be read. */
async function filesOf(entry: FileSystemEntry, unreadable: string[]): Promise<File[]> {
  try {
    if (entry.isFile) return [await new Promise<File>((...settle) => (entry as FileSystemFileEntry).file(...settle))];
    const entries = await entriesOf(entry as FileSystemDirectoryEntry);
    return (await Promise.all(entries.map((inside) => filesOf(inside, unreadable)))).flat();
  } catch {
    unreadable.push(entry.name);
    return [];
  }
}

async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const entries: FileSystemEntry[] = [];
  for (;;) {
    // A browser returns at most 100 entries at a time, and none at the end.
    const some = await new Promise<FileSystemEntry[]>((...settle) => reader.readEntries(...settle));
    if (some.length === 0) return entries;
    entries.push(...some);
  }
}
