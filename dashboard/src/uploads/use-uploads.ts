import { useRouteContext } from '@tanstack/react-router';
import { useSyncExternalStore } from 'react';
import type { Upload, UploadQueue } from './upload-queue.ts';

/** The queue of this tab. */
export function useUploadQueue(): UploadQueue {
  return useRouteContext({ from: '__root__', select: ({ uploads }) => uploads });
}

/** All that was given to upload, as it stands now. */
export function useUploads(): readonly Upload[] {
  const { subscribe, snapshot } = useUploadQueue();
  return useSyncExternalStore(subscribe, snapshot);
}
