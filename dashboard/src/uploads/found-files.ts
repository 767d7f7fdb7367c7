import { isLeftOut } from '../../../clients/typescript/src/left-out.ts';

/** The files that the user has dropped, pasted or chosen. */
export interface Found {
  readonly files: readonly File[];
  /** The names of the items that the browser could not read, such as a broken link or a folder without permission. */
  readonly unreadable: readonly string[];
  readonly leftOut: readonly LeftOut[];
}

/** A file or folder in a folder that is uploaded only if the user asks for it, such as `.git`. */
export interface LeftOut {
  readonly path: string;
  /** Reads it, with everything in it. */
  read(): Promise<Found>;
}

/**
 * Reads the files that were dropped or pasted, including those in folders at any depth.
 * Call it before the event's handler returns, because the browser empties `transfer` afterwards.
 */
export async function droppedFiles(transfer: DataTransfer): Promise<Found> {
  const entries = [...transfer.items].flatMap((item) => (item.kind === 'file' ? (item.webkitGetAsEntry() ?? []) : []));
  // Content pasted from the clipboard, such as a screenshot, has no file system entry.
  if (entries.length === 0) return { files: [...transfer.files], unreadable: [], leftOut: [] };
  return together(await Promise.all(entries.map((entry) => filesOf(entry, isLeftOut))));
}

/** Takes the files of a folder that was chosen. Each of them has its path in that folder, which begins with the name of the folder. */
export function chosenFiles(chosen: readonly File[]): Found {
  const files: File[] = [];
  const leftOut = new Map<string, File[]>();
  for (const file of chosen) {
    const steps = file.webkitRelativePath.split('/');
    const at = steps.findIndex((name, depth) => depth > 0 && isLeftOut(name));
    const path = steps.slice(0, at + 1).join('/');
    const inside = at < 0 ? files : (leftOut.get(path) ?? []);
    inside.push(file);
    if (at >= 0) leftOut.set(path, inside);
  }
  return {
    files,
    unreadable: [],
    leftOut: [...leftOut].map(([path, inside]) => ({
      path,
      read: async () => ({ files: inside, unreadable: [], leftOut: [] }),
    })),
  };
}

export function together(found: readonly Found[]): Found {
  return {
    files: found.flatMap(({ files }) => files),
    unreadable: found.flatMap(({ unreadable }) => unreadable),
    leftOut: found.flatMap(({ leftOut }) => leftOut),
  };
}

/** Reads the files of an entry. @param isOut  true for the names in folders that are left out. */
async function filesOf(entry: FileSystemEntry, isOut: (name: string) => boolean): Promise<Found> {
  try {
    if (entry.isFile) {
      const file = await new Promise<File>((...settle) => (entry as FileSystemFileEntry).file(...settle));
      return { files: [file], unreadable: [], leftOut: [] };
    }
    const inside = await entriesOf(entry as FileSystemDirectoryEntry);
    const found = await Promise.all(inside.filter(({ name }) => !isOut(name)).map((one) => filesOf(one, isOut)));
    const leftOut = inside
      .filter(({ name }) => isOut(name))
      .map((one) => ({ path: one.fullPath.slice(1), read: () => filesOf(one, () => false) }));
    return together([...found, { files: [], unreadable: [], leftOut }]);
  } catch {
    return { files: [], unreadable: [entry.name], leftOut: [] };
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
