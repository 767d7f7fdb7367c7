import { useEffect } from 'react';
import { strings } from '../strings.ts';

/** Sets the window's title. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · ${strings.product}`;
  }, [title]);
}
