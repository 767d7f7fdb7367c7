import { Button, Group, Progress, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { FileRecord, FilesPage } from '../../../shared/answers.ts';
import { askAnew, FILES, profileQuery } from '../api/queries.ts';
import { formatNumber, percentOf } from '../format.ts';
import { strings } from '../strings.ts';
import { announce } from '../ui/announce.ts';
import { Dialog } from '../ui/dialog.tsx';
import { notifyError, notifyFailure, wordsFor } from '../ui/notify.ts';
import { useLast } from '../ui/use-last.ts';
import { deleteAll } from './delete-all.ts';

const words = strings.remove;

/** How many names the question shows. */
const NAMES = 5;

interface DeleteFilesProps {
  /** Undefined: closed. */
  readonly files: readonly FileRecord[] | undefined;
  readonly onClose: () => void;
}

/** Asks, deletes, and shows how far it is. */
export function DeleteFiles({ files, onClose }: DeleteFilesProps) {
  const shown = useLast(files) ?? [];
  const queryClient = useQueryClient();
  const [done, setDone] = useState(0);
  const [isHeld, setIsHeld] = useState(false);
  const controller = useRef(new AbortController());
  const removal = useMutation({
    mutationFn: (chosen: readonly FileRecord[]) => {
      controller.current = new AbortController();
      const { signal } = controller.current;
      return deleteAll(chosen, { signal, onProgress: setDone, onHeld: setIsHeld });
    },
    onSuccess: ({ deleted, failures }) => {
      // They are gone from the list at once, whatever becomes of asking for it anew.
      queryClient.setQueriesData<FilesPage>({ queryKey: FILES }, (page) => page && without(page, deleted));
      const [first] = failures;
      if (first === undefined) return announce(words.done(formatNumber(deleted.size), deleted.size === 1));
      notifyError(words.failed(formatNumber(failures.length), failures.length === 1), wordsFor(first));
    },
    onError: notifyFailure,
    onSettled: () => {
      void askAnew(queryClient, { queryKey: FILES });
      void askAnew(queryClient, profileQuery);
      onClose();
      setDone(0);
      setIsHeld(false);
    },
  });
  const isOne = shown.length === 1;
  /** What is on its way cannot be called back; nothing more is begun. */
  const close = () => (removal.isPending ? controller.current.abort() : onClose());
  return (
    <Dialog opened={files !== undefined} onClose={close} title={words.title(formatNumber(shown.length), isOne)}>
      <Stack>
        <div>
          {shown.slice(0, NAMES).map(({ id, name }) => (
            <Text key={id} fw={600} className="one-line">
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
        {isHeld && (
          <Text size="sm" c="dimmed" role="status">
            {strings.uploads.held(strings.failures.rate_limit_exceeded)}
          </Text>
        )}
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

function without(page: FilesPage, deleted: ReadonlySet<string>): FilesPage {
  const items = page.items.filter(({ id }) => !deleted.has(id));
  return { ...page, items, total: page.total - (page.items.length - items.length) };
}
