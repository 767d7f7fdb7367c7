import { ActionIcon, Button, Group, Paper, Progress, Text } from '@mantine/core';
import IconChevronDown from '@tabler/icons-react/dist/esm/icons/IconChevronDown.mjs';
import IconChevronUp from '@tabler/icons-react/dist/esm/icons/IconChevronUp.mjs';
import IconX from '@tabler/icons-react/dist/esm/icons/IconX.mjs';
import { useState } from 'react';
import { formatBytes, formatDuration, formatNumber, percentOf } from '../format.ts';
import { strings } from '../strings.ts';
import styles from './upload-panel.module.css';
import { isUnfinished, type Upload } from './upload-queue.ts';
import { UploadRow } from './upload-row.tsx';
import { useSpeed } from './use-speed.ts';
import { useUploadQueue, useUploads } from './use-uploads.ts';

const words = strings.uploads;

/** A folder may have thousands; what is under way and what failed comes first, and of the rest nobody reads more. */
const ROWS = 100;

const ORDER: Readonly<Record<Upload['state'], number>> = { failed: 0, sending: 1, held: 2, waiting: 3, done: 4 };

/** What is being uploaded, over every page; absent when there is nothing. */
export function UploadPanel() {
  const queue = useUploadQueue();
  const uploads = useUploads();
  const [isOpen, setIsOpen] = useState(true);
  const unfinished = uploads.filter(({ state }) => isUnfinished(state));
  const failed = uploads.filter(({ state }) => state === 'failed');
  const isBusy = unfinished.length > 0;
  // What was done before does not make the bar begin near its end.
  const batch = unfinished[0]?.batch;
  const counted = uploads.filter(
    (upload) => upload.state !== 'failed' && (batch === undefined || upload.batch === batch),
  );
  const done = counted.length - unfinished.length;
  const [sent, total] = [sum(counted, 'sentBytes'), sum(counted, 'sizeBytes')];
  const speed = useSpeed(sent, isBusy);
  if (uploads.length === 0) return null;

  const title = isBusy
    ? words.busy(formatNumber(done), formatNumber(counted.length))
    : words.done(formatNumber(done), done === 1);
  const rows = uploads.toSorted((one, other) => ORDER[one.state] - ORDER[other.state]).slice(0, ROWS);
  return (
    <Paper component="section" className={styles.panel} withBorder shadow="lg" aria-label={words.title}>
      <div className={styles.head}>
        <div className={styles.title}>
          <Text fw={600} role="status">
            {title}
            {failed.length > 0 && (
              <Text
                span
                c="var(--mantine-color-error)"
              >{` · ${words.failed(formatNumber(failed.length), failed.length === 1)}`}</Text>
            )}
          </Text>
          {isBusy && (
            <Text size="sm" c="dimmed" className="numbers">
              {words.sent(formatBytes(sent), formatBytes(total))}
              {speed !== undefined &&
                speed > 0 &&
                ` · ${words.speed(formatBytes(speed))} · ${words.left(formatDuration((total - sent) / speed))}`}
            </Text>
          )}
        </div>
        <ActionIcon
          aria-label={isOpen ? words.collapse : words.expand}
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
        >
          {isOpen ? <IconChevronDown size={18} aria-hidden /> : <IconChevronUp size={18} aria-hidden />}
        </ActionIcon>
        {!isBusy && (
          <ActionIcon aria-label={words.clear} onClick={() => queue.clear()}>
            <IconX size={18} aria-hidden />
          </ActionIcon>
        )}
      </div>
      {isBusy && <Progress value={percentOf(sent, total)} radius={0} size="sm" aria-label={words.total} />}
      {isOpen && (
        <>
          <ul className={styles.rows}>
            {rows.map((upload) => (
              <UploadRow key={upload.id} upload={upload} />
            ))}
            {uploads.length > ROWS && (
              <li className={styles.more}>{words.more(formatNumber(uploads.length - ROWS))}</li>
            )}
          </ul>
          <Foot hasMany={unfinished.length > 1} hasFailed={failed.some(({ id }) => queue.canRetry(id))} />
        </>
      )}
    </Paper>
  );
}

function Foot({ hasMany, hasFailed }: { hasMany: boolean; hasFailed: boolean }) {
  const queue = useUploadQueue();
  if (!hasMany && !hasFailed) return null;
  return (
    <Group className={styles.foot} justify="end" gap="xs">
      {hasFailed && (
        <Button size="compact-sm" variant="default" onClick={() => queue.retryAll()}>
          {words.retryAll}
        </Button>
      )}
      {hasMany && (
        <Button size="compact-sm" variant="default" onClick={() => queue.cancelAll()}>
          {words.cancelAll}
        </Button>
      )}
    </Group>
  );
}

function sum(uploads: readonly Upload[], field: 'sentBytes' | 'sizeBytes'): number {
  return uploads.reduce((total, upload) => total + upload[field], 0);
}
