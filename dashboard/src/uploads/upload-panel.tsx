import { ActionIcon, Button, Group, Paper, Progress, Text } from '@mantine/core';
import IconChevronDown from '@tabler/icons-react/dist/esm/icons/IconChevronDown.mjs';
import IconChevronUp from '@tabler/icons-react/dist/esm/icons/IconChevronUp.mjs';
import IconX from '@tabler/icons-react/dist/esm/icons/IconX.mjs';
import { useEffect, useRef, useState } from 'react';
import { formatBytes, formatDuration, formatNumber, percentOf } from '../format.ts';
import { strings } from '../strings.ts';
import { announce } from '../ui/announce.ts';
import { keepFocus } from '../ui/keep-focus.ts';
import { useEverySecond } from '../ui/use-every-second.ts';
import styles from './upload-panel.module.css';
import { isUnfinished, type Upload } from './upload-queue.ts';
import { UploadRow } from './upload-row.tsx';
import { useUploadQueue, useUploads } from './use-uploads.ts';

const words = strings.uploads;

/** The maximum number of rows, since a folder may have thousands of files. Failed and running uploads come first. */
const ROWS = 100;

const ORDER: Readonly<Record<Upload['state'], number>> = {
  failed: 0,
  sending: 1,
  held: 2,
  paused: 3,
  waiting: 4,
  done: 5,
};

/** The panel with all uploads, over every page; hidden when there are none. */
export function UploadPanel() {
  const queue = useUploadQueue();
  const uploads = useUploads();
  // The panel starts closed on a phone, where it would cover the page.
  const [isOpen, setIsOpen] = useState(() => window.matchMedia('(min-width: 48rem)').matches);
  const unfinished = uploads.filter(({ state }) => isUnfinished(state));
  const failed = uploads.filter(({ state }) => state === 'failed');
  const isBusy = unfinished.length > 0;
  const paused = unfinished.filter(({ state }) => state === 'paused').length;
  const isPaused = isBusy && paused === unfinished.length;
  // Only the current batch counts, so that the bar does not start nearly full.
  const batch = unfinished[0]?.batch;
  const counted = uploads.filter(
    (upload) => upload.state !== 'failed' && (batch === undefined || upload.batch === batch),
  );
  const done = counted.length - unfinished.length;
  const [sent, total] = [sum(counted, 'sentBytes'), sum(counted, 'sizeBytes')];
  const title = isBusy
    ? (isPaused ? words.pausedAll : words.busy)(formatNumber(done), formatNumber(counted.length))
    : words.done(formatNumber(done), done === 1);
  const failures = failed.length > 0 ? ` · ${words.failed(formatNumber(failed.length), failed.length === 1)}` : '';
  useAnnouncement(isBusy, uploads.length > 0 ? title + failures : '');
  if (uploads.length === 0) return null;

  const rows = uploads.toSorted((one, other) => ORDER[one.state] - ORDER[other.state]).slice(0, ROWS);
  return (
    <Paper component="section" className={styles.panel} withBorder shadow="lg" aria-label={words.title}>
      <div className={styles.head}>
        <div className={styles.title}>
          <Text fw={600}>
            {title}
            {failures !== '' && (
              <Text span c="var(--mantine-color-error)">
                {failures}
              </Text>
            )}
          </Text>
          {isBusy && !isPaused && (
            <OverallProgress
              sent={sent}
              total={total}
              waiting={unfinished.filter(({ state }) => state === 'waiting' || state === 'held').length}
            />
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
          <ActionIcon
            aria-label={words.clear}
            onClick={() => {
              queue.clear();
              keepFocus();
            }}
          >
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
          <Foot
            running={unfinished.length - paused}
            paused={paused}
            hasFailed={failed.some(({ id }) => queue.canRetry(id))}
          />
        </>
      )}
    </Paper>
  );
}

/** Shows the overall progress, and the remaining time, which depends on the connection's speed and on the rate limit. */
function OverallProgress({ sent, total, waiting }: { sent: number; total: number; waiting: number }) {
  const { pace, bytesPerSecond: speed = 0 } = useUploadQueue();
  useEverySecond();
  const held = pace.secondsFor(0);
  const left = Math.max(speed > 0 ? (total - sent) / speed : 0, pace.secondsFor(waiting));
  const amount = words.sent(formatBytes(sent), formatBytes(total));
  const parts = [
    amount,
    ...(held > 0 ? [words.heldFor(formatDuration(held))] : speed > 0 ? [words.speed(formatBytes(speed))] : []),
    ...(left > 0 && left > held ? [words.left(formatDuration(left))] : []),
  ];
  return (
    <Text size="sm" c="dimmed" className="numbers">
      {navigator.onLine ? parts.join(' · ') : `${amount} · ${words.offline}`}
    </Text>
  );
}

/** Announces when uploads start and how they ended, but not each file of a folder. */
function useAnnouncement(isBusy: boolean, text: string): void {
  const latest = useRef(text);
  latest.current = text;
  // Only a change of `isBusy` is announced, not each count.
  useEffect(() => {
    if (latest.current !== '') announce(latest.current);
  }, [isBusy]);
}

/** The actions for several uploads. */
function Foot({ running, paused, hasFailed }: { running: number; paused: number; hasFailed: boolean }) {
  const queue = useUploadQueue();
  const actions: [isShown: boolean, label: string, act: () => void][] = [
    [hasFailed, words.retryAll, () => queue.retryAll()],
    [running > 1, words.pauseAll, () => queue.pauseAll()],
    [paused > 1, words.resumeAll, () => queue.resumeAll()],
    [running + paused > 1, words.cancelAll, () => void queue.cancelAll()],
  ];
  const shown = actions.filter(([isShown]) => isShown);
  if (shown.length === 0) return null;
  return (
    <Group className={styles.foot} justify="end" gap="xs">
      {shown.map(([, label, act]) => (
        <Button
          key={label}
          size="compact-sm"
          variant="default"
          onClick={() => {
            act();
            keepFocus();
          }}
        >
          {label}
        </Button>
      ))}
    </Group>
  );
}

function sum(uploads: readonly Upload[], field: 'sentBytes' | 'sizeBytes'): number {
  return uploads.reduce((total, upload) => total + upload[field], 0);
}
