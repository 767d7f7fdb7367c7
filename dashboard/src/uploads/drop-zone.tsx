import { notifications } from '@mantine/notifications';
import IconCloudUpload from '@tabler/icons-react/dist/esm/icons/IconCloudUpload.mjs';
import { useEffect, useState } from 'react';
import { formatNumber } from '../format.ts';
import { strings } from '../strings.ts';
import styles from './drop-zone.module.css';
import { droppedFiles } from './dropped-files.ts';
import { MAX_UPLOAD_BYTES } from './max-upload.ts';
import { useUploadQueue } from './use-uploads.ts';

/** How many names the message shows. */
const NAMES = 5;

/** Takes files that are dropped anywhere in the window, or pasted; shows that it would while they are dragged over it. */
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
    // Every element under the pointer is entered before the last is left.
    let depth = 0;
    on('dragenter', (event) => {
      if (hasFiles(event.dataTransfer)) setIsOver(++depth > 0);
    });
    on('dragleave', (event) => {
      if (hasFiles(event.dataTransfer)) setIsOver(--depth > 0);
    });
    on('dragover', (event) => {
      if (hasFiles(event.dataTransfer)) event.preventDefault();
    });
    on('drop', (event) => {
      depth = 0;
      setIsOver(false);
      if (!event.dataTransfer || !hasFiles(event.dataTransfer)) return;
      event.preventDefault();
      void take(event.dataTransfer);
    });
    on('paste', ({ clipboardData, target }) => {
      // Programs copy text with a picture of it; into a field goes the text.
      if (target instanceof HTMLInputElement && clipboardData?.types.includes('text/plain')) return;
      if (clipboardData && hasFiles(clipboardData)) void take(clipboardData);
    });
    on('beforeunload', (event) => {
      if (queue.isBusy) event.preventDefault();
    });
    return () => controller.abort();
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
  notifications.show({
    color: 'red',
    title: strings.uploads.notRead(formatNumber(names.length), names.length === 1),
    message: names.slice(0, NAMES).join(', '),
    role: 'alert',
  });
}

function hasFiles(transfer: DataTransfer | null): boolean {
  return transfer?.types.includes('Files') === true;
}
