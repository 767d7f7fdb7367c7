import { ActionIcon, Progress, Text } from '@mantine/core';
import IconAlertCircle from '@tabler/icons-react/dist/esm/icons/IconAlertCircle.mjs';
import IconCircleCheck from '@tabler/icons-react/dist/esm/icons/IconCircleCheck.mjs';
import IconPlayerPause from '@tabler/icons-react/dist/esm/icons/IconPlayerPause.mjs';
import IconPlayerPlay from '@tabler/icons-react/dist/esm/icons/IconPlayerPlay.mjs';
import IconRefresh from '@tabler/icons-react/dist/esm/icons/IconRefresh.mjs';
import IconX from '@tabler/icons-react/dist/esm/icons/IconX.mjs';
import { useQuery } from '@tanstack/react-query';
import { memo } from 'react';
import { profileQuery } from '../api/queries.ts';
import { formatBytes, percentOf } from '../format.ts';
import { strings } from '../strings.ts';
import { CopyLink } from '../ui/copy-link.tsx';
import { RequestId } from '../ui/failed-request.tsx';
import { MAX_UPLOAD_BYTES } from './max-upload.ts';
import styles from './upload-panel.module.css';
import { isUnfinished, type Upload } from './upload-queue.ts';
import { useUploadQueue } from './use-uploads.ts';

const words = strings.uploads;

/** One row of the panel. Memoized, so that it renders again only when its own upload has changed. */
export const UploadRow = memo(function UploadRow({ upload }: { upload: Upload }) {
  const queue = useUploadQueue();
  const { id, name, sizeBytes, sentBytes, state, record } = upload;
  return (
    <li className={styles.row} data-state={state}>
      <div className={styles.file}>
        <Text size="sm" fw={500} className="one-line" title={name} translate="no">
          {name}
        </Text>
        <Text size="xs" c={state === 'failed' ? 'var(--mantine-color-error)' : 'dimmed'} className="numbers">
          <UploadStatus upload={upload} />
        </Text>
        {state === 'failed' && <RequestId error={upload.error} />}
        {state === 'sending' && <Progress value={percentOf(sentBytes, sizeBytes)} size={4} mt={4} aria-label={name} />}
      </div>
      {record && (
        <>
          <IconCircleCheck size={18} color="var(--mantine-color-green-text)" aria-hidden />
          <CopyLink file={record} />
        </>
      )}
      {state === 'failed' && <IconAlertCircle size={18} color="var(--mantine-color-error)" aria-hidden />}
      {state === 'failed' && queue.canRetry(id) && (
        <ActionIcon aria-label={words.retry(name)} onClick={() => queue.retry(id)}>
          <IconRefresh size={18} aria-hidden />
        </ActionIcon>
      )}
      {isUnfinished(state) && state !== 'paused' && (
        <ActionIcon aria-label={words.pause(name)} onClick={() => queue.pause(id)}>
          <IconPlayerPause size={18} aria-hidden />
        </ActionIcon>
      )}
      {state === 'paused' && (
        <ActionIcon aria-label={words.resume(name)} onClick={() => queue.resume(id)}>
          <IconPlayerPlay size={18} aria-hidden />
        </ActionIcon>
      )}
      {state !== 'done' && (
        <ActionIcon
          aria-label={isUnfinished(state) ? words.cancel(name) : words.dismiss(name)}
          onClick={() => queue.cancel(id)}
        >
          <IconX size={18} aria-hidden />
        </ActionIcon>
      )}
    </li>
  );
});

function UploadStatus({ upload: { state, failure, sentBytes, sizeBytes } }: { upload: Upload }) {
  const { data: profile } = useQuery(profileQuery);
  if (state === 'done') return `${formatBytes(sizeBytes)} · ${words.stored}`;
  if (state === 'waiting') return `${formatBytes(sizeBytes)} · ${words.waiting}`;
  if (state === 'paused') return `${formatBytes(sizeBytes)} · ${words.paused}`;
  if (state === 'sending')
    return sentBytes >= sizeBytes && sizeBytes > 0
      ? words.finishing
      : words.sent(formatBytes(sentBytes), formatBytes(sizeBytes));
  const why = failure === undefined ? '' : strings.failures[failure];
  if (state === 'held') return words.held(why);
  if (failure === 'file_too_large') return words.tooLarge(formatBytes(MAX_UPLOAD_BYTES));
  if (failure === 'storage_limit_exceeded' && profile) {
    const free = Math.max(0, profile.storage_limit_bytes - profile.storage_used_bytes);
    // The API also answers with this code when the account has the maximum number of files.
    return sizeBytes > free ? words.noSpace(formatBytes(free)) : words.noPlace;
  }
  return why;
}
