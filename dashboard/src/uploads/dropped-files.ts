export interface Dropped {
  readonly files: readonly File[];
  /** Names of what the browser could not read: a link to nowhere, or a folder that may not be opened. */
  readonly unreadable: readonly string[];
}

/**
 * The files that were dropped or pasted, those inside folders included, as deep as they lie.
 * To be called before the event's handler returns: afterwards the browser empties `transfer`.
 */
export async function droppedFiles(transfer: DataTransfer): Promise<Dropped> {
  const entries = [...transfer.items].flatMap((item) => (item.kind === 'file' ? (item.webkitGetAsEntry() ?? []) : []));
  // What is pasted from the clipboard, such as a screenshot, lies in no file system.
  if (entries.length === 0) return { files: [...transfer.files], unreadable: [] };
  const unreadable: string[] = [];
  const files = await Promise.all(entries.map((entry) => filesOf(entry, unreadable)));
  return { files: files.flat(), unreadable };
}

/** @param unreadable  is given the names of what cannot be read; the rest is taken all the same. */
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
    // A browser gives at most a hundred at a time, and none at the end.
    const some = await new Promise<FileSystemEntry[]>((...settle) => reader.readEntries(...settle));
    if (some.length === 0) return entries;
    entries.push(...some);
  }
}
