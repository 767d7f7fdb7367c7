import { useRouteContext } from '@tanstack/react-router';
import { useSyncExternalStore } from 'react';
import type { Upload, UploadQueue } from './upload-queue.ts';

/** The upload queue of this tab. */
export function useUploadQueue(): UploadQueue {
  return useRouteContext({ from: '__root__', select: ({ uploads }) => uploads });
}

/** The current state of all uploads of this tab. */
export function useUploads(): readonly Upload[] {
  const { subscribe, snapshot } = useUploadQueue();
  return useSyncExternalStore(subscribe, snapshot);
}
