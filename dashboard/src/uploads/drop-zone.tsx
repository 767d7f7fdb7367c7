import IconCloudUpload from '@tabler/icons-react/dist/esm/icons/IconCloudUpload.mjs';
import { useEffect, useState } from 'react';
import { strings } from '../strings.ts';
import styles from './drop-zone.module.css';
import { bringsFiles, hasFiles } from './drops.ts';
import { droppedFiles } from './found-files.ts';
import { useTakeFiles } from './use-take-files.tsx';

/**
 * While something is dragged over the window, browsers fire an event at least every 350 ms. They do not always fire one when the dragged
 * item leaves the window, so after this time without an event the item counts as gone.
 */
const STILL_OVER_MS = 600;

/** Uploads files that are dropped anywhere in the window, or pasted. A zone is shown while files are dragged over the window. */
export function DropZone() {
  const takeFiles = useTakeFiles();
  const [isOver, setIsOver] = useState(false);

  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const take = async (transfer: DataTransfer) => takeFiles(await droppedFiles(transfer));
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
  }, [takeFiles]);

  if (!isOver) return null;
  return (
    <div className={styles.zone} aria-hidden>
      <IconCloudUpload size={64} />
      <span>{strings.files.drop}</span>
    </div>
  );
}
