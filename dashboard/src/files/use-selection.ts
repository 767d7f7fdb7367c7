import { useState } from 'react';
import type { FileRecord } from '../../../clients/typescript/src/index.ts';

export interface Selection {
  /** The selected files of this page, in their order. */
  readonly chosen: readonly FileRecord[];
  has(id: string): boolean;
  /** Selects or unselects a file. @param extend  true to include all files between this file and the last one that was toggled. */
  toggle(id: string, extend: boolean): void;
  all(): void;
  clear(): void;
}

const NONE: ReadonlySet<string> = new Set();

/**
 * The selection of files on one page. Deleted files are removed from it, and another page starts with an empty one.
 * @param page  identifies the page and the search.
 */
export function useSelection(items: readonly FileRecord[], page: string): Selection {
  const [selected, setSelected] = useState({ page, ids: NONE });
  if (selected.page !== page) setSelected({ page, ids: NONE });
  const ids = selected.page === page ? selected.ids : NONE;
  const [last, setLast] = useState<string>();
  const chosen = items.filter(({ id }) => ids.has(id));
  const set = (next: Iterable<string>) => setSelected({ page, ids: new Set(next) });
  return {
    chosen,
    has: (id) => ids.has(id),
    toggle(id, extend) {
      const [from, to] = [items.findIndex((file) => file.id === last), items.findIndex((file) => file.id === id)];
      const range =
        extend && from >= 0 ? items.slice(Math.min(from, to), Math.max(from, to) + 1).map((file) => file.id) : [id];
      const now = chosen.map((file) => file.id);
      set(ids.has(id) ? now.filter((other) => !range.includes(other)) : [...now, ...range]);
      setLast(id);
    },
    all: () => set(items.map(({ id }) => id)),
    clear: () => set([]),
  };
}
