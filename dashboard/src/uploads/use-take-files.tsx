import { Button, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useCallback } from 'react';
import { formatNumber } from '../format.ts';
import { strings } from '../strings.ts';
import { notifyError } from '../ui/notify.ts';
import { type Found, type LeftOut, together } from './found-files.ts';
import { MAX_UPLOAD_BYTES } from './max-upload.ts';
import type { UploadQueue } from './upload-queue.ts';
import { useUploadQueue } from './use-uploads.ts';

const words = strings.uploads;

/** How many names a message shows. */
const NAMES = 5;

/** Returns a function that uploads files. It names what could not be read, and what was left out, which the user may then upload as well. */
export function useTakeFiles(): (found: Found) => void {
  const queue = useUploadQueue();
  return useCallback((found) => take(queue, found), [queue]);
}

function take(queue: UploadQueue, { files, unreadable, leftOut }: Found): void {
  if (files.length > 0) queue.add(files, MAX_UPLOAD_BYTES);
  if (unreadable.length > 0)
    notifyError(words.notRead(formatNumber(unreadable.length), unreadable.length === 1), listOf(unreadable));
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
        <Text size="sm">{listOf(leftOut.map(({ path }) => path))}</Text>
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

function listOf(names: readonly string[]): string {
  const more = names.length > NAMES ? [words.more(formatNumber(names.length - NAMES))] : [];
  return [...names.slice(0, NAMES), ...more].join(', ');
}
