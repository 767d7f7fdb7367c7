import { Button, Group, Progress, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { FileRecord, FilesPage, Wait } from '../../../clients/typescript/src/index.ts';
import { knownFailure } from '../api/failure.ts';
import { FILES, profileQuery, refreshQueries } from '../api/queries.ts';
import { formatDuration, formatNumber, percentOf } from '../format.ts';
import { strings } from '../strings.ts';
import { announce } from '../ui/announce.ts';
import { Dialog } from '../ui/dialog.tsx';
import { notifyFailure } from '../ui/failed-request.tsx';
import { messageFor, notifyError } from '../ui/notify.ts';
import { useEverySecond } from '../ui/use-every-second.ts';
import { useLast } from '../ui/use-last.ts';
import { deleteAll } from './delete-all.ts';

const words = strings.remove;

/** How many file names the dialog shows. */
const NAMES = 5;

/** A wait before the next request. */
interface Held extends Pick<Wait, 'code'> {
  /** In milliseconds, as `Date.now()`. */
  readonly until: number;
}

interface DeleteFilesProps {
  /** The files to delete; undefined when the dialog is closed. */
  readonly files: readonly FileRecord[] | undefined;
  readonly onClose: () => void;
}

/** Asks for confirmation, deletes the files, and shows the progress. */
export function DeleteFiles({ files, onClose }: DeleteFilesProps) {
  const shown = useLast(files) ?? [];
  const queryClient = useQueryClient();
  const [done, setDone] = useState(0);
  const [held, setHeld] = useState<Held>();
  const controller = useRef(new AbortController());
  const removal = useMutation({
    mutationFn: (chosen: readonly FileRecord[]) => {
      controller.current = new AbortController();
      const { signal } = controller.current;
      const onWait = ({ code, seconds }: Wait) => {
        const wait = { code, until: Date.now() + 1_000 * seconds };
        // Several deletions wait at the same time; the longest wait is shown.
        setHeld((held) => (held && held.until > wait.until ? held : wait));
      };
      return deleteAll(chosen, { signal, onProgress: setDone, onWait });
    },
    onSuccess: ({ deleted, failures }) => {
      // Remove the files from the list at once, even if refetching it fails.
      queryClient.setQueriesData<FilesPage>({ queryKey: FILES }, (page) => page && without(page, deleted));
      const [first] = failures;
      if (first === undefined) return announce(words.done(formatNumber(deleted.size), deleted.size === 1));
      notifyError(words.failed(formatNumber(failures.length), failures.length === 1), messageFor(first));
    },
    onError: notifyFailure,
    onSettled: () => {
      void refreshQueries(queryClient, { queryKey: FILES });
      void refreshQueries(queryClient, profileQuery);
      onClose();
      setDone(0);
      setHeld(undefined);
    },
  });
  const isOne = shown.length === 1;
  /** Running deletions cannot be cancelled, but no more are started. */
  const close = () => (removal.isPending ? controller.current.abort() : onClose());
  return (
    <Dialog opened={files !== undefined} onClose={close} title={words.title(formatNumber(shown.length), isOne)}>
      <Stack>
        <div>
          {shown.slice(0, NAMES).map(({ id, name }) => (
            <Text key={id} fw={600} className="one-line" translate="no">
              {name}
            </Text>
          ))}
          {shown.length > NAMES && <Text>{strings.uploads.more(formatNumber(shown.length - NAMES))}</Text>}
        </div>
        <Text>{isOne ? words.warning : words.warningOfMany}</Text>
        {removal.isPending && !isOne && (
          <div>
            <Text size="sm" role="status">
              {words.progress(formatNumber(done), formatNumber(shown.length))}
            </Text>
            <Progress
              value={percentOf(done, shown.length)}
              aria-label={words.progress(String(done), String(shown.length))}
            />
          </div>
        )}
        {held && <HeldFor {...held} />}
        <Group justify="end">
          <Button variant="default" onClick={close} data-autofocus>
            {removal.isPending ? words.stop : strings.cancel}
          </Button>
          <Button color="red" loading={removal.isPending} onClick={() => removal.mutate(shown)}>
            {words.confirm}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

/** Says why the deletion waits, and how much longer. */
function HeldFor({ code, until }: Held) {
  useEverySecond();
  useEffect(() => announce(strings.failures[knownFailure(code)]), [code]);
  const seconds = (until - Date.now()) / 1_000;
  if (seconds <= 0) return null;
  return (
    <Text size="sm" c="dimmed">
      {words.held(formatDuration(seconds), strings.failures[knownFailure(code)])}
    </Text>
  );
}

function without(page: FilesPage, deleted: ReadonlySet<string>): FilesPage {
  const items = page.items.filter(({ id }) => !deleted.has(id));
  return { ...page, items, total: page.total - (page.items.length - items.length) };
}
