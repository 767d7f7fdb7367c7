import { useClipboard } from '@mantine/hooks';
import { useEffect } from 'react';
import { strings } from '../strings.ts';
import { announce } from './announce.ts';
import { notifyError } from './notify.ts';

/** Copies a text; `isCopied` is true for two seconds afterwards. Shows an error when the browser refuses. */
export function useCopy(text: string): { readonly isCopied: boolean; readonly copy: () => void } {
  const { copied, copy, error } = useClipboard({ timeout: 2_000 });
  useEffect(() => {
    if (error) notifyError(strings.failed, strings.copyRefused);
  }, [error]);
  useEffect(() => {
    if (copied) announce(strings.copied);
  }, [copied]);
  return { isCopied: copied, copy: () => copy(text) };
}
