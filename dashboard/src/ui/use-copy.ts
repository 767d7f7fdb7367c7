import { useClipboard } from '@mantine/hooks';
import { useEffect, useRef } from 'react';
import { strings } from '../strings.ts';
import { announce } from './announce.ts';
import { notifyRefusedCopy } from './refused-copy.tsx';

/** Copies a text; `isCopied` is true for two seconds afterwards. Shows the text to select when the browser refuses. */
export function useCopy(text: string): { readonly isCopied: boolean; readonly copy: () => void } {
  const { copied, copy, error } = useClipboard({ timeout: 2_000 });
  const latest = useRef(text);
  latest.current = text;
  useEffect(() => {
    if (error) notifyRefusedCopy(latest.current);
  }, [error]);
  useEffect(() => {
    if (copied) announce(strings.copied);
  }, [copied]);
  return { isCopied: copied, copy: () => copy(text) };
}
