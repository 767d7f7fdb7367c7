import IconCloudUpload from '@tabler/icons-react/dist/esm/icons/IconCloudUpload.mjs';
import { useEffect, useState } from 'react';
import { formatNumber } from '../format.ts';
import { strings } from '../strings.ts';
import { notifyError } from '../ui/notify.ts';
import styles from './drop-zone.module.css';
import { droppedFiles } from './dropped-files.ts';
import { bringsFiles, hasFiles } from './drops.ts';
import { MAX_UPLOAD_BYTES } from './max-upload.ts';
import { useUploadQueue } from './use-uploads.ts';

/**
 * While something is dragged over the window, browsers fire an event at least every 350 ms. They do not always fire one when the dragged
 * item leaves the window, so after this time without an event the item counts as gone.
 */
const STILL_OVER_MS = 600;

/** How many file names the message shows. */
const NAMES = 5;

/** Uploads files that are dropped anywhere in the window, or pasted. A zone is shown while files are dragged over the window. */
export function DropZone() {
  const queue = useUploadQueue();
  const [isOver, setIsOver] = useState(false);

  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const take = async (transfer: DataTransfer) => {
      const { files, unreadable } = await droppedFiles(transfer);
      queue.add(files, MAX_UPLOAD_BYTES);
      if (unreadable.length > 0) notifyUnreadable(unreadable);
    };
    const on = <Name extends keyof WindowEventMap>(name: Name, handle: (event: WindowEventMap[Name]) => void) =>
      window.addEventListener(name, handle, { signal });
    let timer: ReturnType<typeof setTimeout> | undefined;
    on('dragover', (event) => {
      if (!event.dataTransfer || !bringsFiles(event.dataTransfer)) return;
      event.dataTransfer.dropEffect = 'copy';
      setIsOver(true);
      clearTimeout(timer);
      timer = setTimeout(() => setIsOver(false), STILL_OVER_MS);
    });
    on('drop', (event) => {
      clearTimeout(timer);
      setIsOver(false);
      if (event.dataTransfer && bringsFiles(event.dataTransfer)) void take(event.dataTransfer);
    });
    on('paste', ({ clipboardData, target }) => {
      // Some programs copy text together with a picture of it; when it is pasted into a field, only the text counts.
      if (target instanceof HTMLInputElement && clipboardData?.types.includes('text/plain')) return;
      if (clipboardData && hasFiles(clipboardData)) void take(clipboardData);
    });
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [queue]);

  if (!isOver) return null;
  return (
    <div className={styles.zone} aria-hidden>
      <IconCloudUpload size={64} />
      <span>{strings.files.drop}</span>
    </div>
  );
}

function notifyUnreadable(names: readonly string[]): void {
  notifyError(
    strings.uploads.notRead(formatNumber(names.length), names.length === 1),
    names.slice(0, NAMES).join(', '),
  );
}
