/**
 * The files that were dropped or pasted, those inside folders included, as deep as they lie.
 * To be called before the event's handler returns: afterwards the browser empties `transfer`.
 */
export async function droppedFiles(transfer: DataTransfer): Promise<File[]> {
  const entries = [...transfer.items].flatMap((item) => (item.kind === 'file' ? (item.webkitGetAsEntry() ?? []) : []));
  // What is pasted from the clipboard, such as a screenshot, lies in no file system.
  if (entries.length === 0) return [...transfer.files];
  return (await Promise.all(entries.map(filesOf))).flat();
}

async function filesOf(entry: FileSystemEntry): Promise<File[]> {
  if (entry.isFile) return [await new Promise<File>((...settle) => (entry as FileSystemFileEntry).file(...settle))];
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const entries: FileSystemEntry[] = [];
  for (;;) {
    // A browser gives at most a hundred at a time, and none at the end.
    const some = await new Promise<FileSystemEntry[]>((...settle) => reader.readEntries(...settle));
    if (some.length === 0) break;
    entries.push(...some);
  }
  return (await Promise.all(entries.map(filesOf))).flat();
}
