import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useCallback } from 'react';
import { formatNumber } from '../format.ts';
import { strings } from '../strings.ts';
import { notifyError } from '../ui/notify.ts';
import { type Found, type LeftOut, together } from './found-files.ts';
import { MAX_UPLOAD_BYTES } from './max-upload.ts';
import type { UploadQueue } from './upload-queue.ts';
import styles from './use-take-files.module.css';
import { useUploadQueue } from './use-uploads.ts';

const words = strings.uploads;

/** Returns a function that uploads files. It names what could not be read, and what was left out, which the user may then upload as well. */
export function useTakeFiles(): (found: Found) => void {
  const queue = useUploadQueue();
  return useCallback((found) => take(queue, found), [queue]);
}

function take(queue: UploadQueue, { files, unreadable, leftOut }: Found): void {
  if (files.length > 0) queue.add(files, MAX_UPLOAD_BYTES);
  if (unreadable.length > 0)
    notifyError(words.notRead(formatNumber(unreadable.length), unreadable.length === 1), <Names names={unreadable} />);
  if (leftOut.length > 0) notifyLeftOut(leftOut, (more) => take(queue, more));
}

/** Names what was left out until the user closes the message, or uploads it. */
function notifyLeftOut(leftOut: readonly LeftOut[], onMore: (found: Found) => void): void {
  const id = crypto.randomUUID();
  const upload = async () => {
    notifications.hide(id);
    onMore(together(await Promise.all(leftOut.map((one) => one.read()))));
  };
  notifications.show({
    id,
    title: words.leftOut(formatNumber(leftOut.length), leftOut.length === 1),
    message: (
      <>
        <Names names={leftOut.map(({ path }) => path)} />
        <Button variant="default" size="compact-sm" mt="xs" onClick={() => void upload()}>
          {words.uploadLeftOut}
        </Button>
      </>
    ),
    role: 'status',
    autoClose: false,
    closeButtonProps: { 'aria-label': strings.close },
  });
}

function Names({ names }: { names: readonly string[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard.
    <ul className={styles.names} translate="no" tabIndex={0}>
      {names.map((name, at) => (
        <li key={at}>{name}</li>
      ))}
    </ul>
  );
}
