import { Button, Group, Progress, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { FILES, profileQuery } from '../api/queries.ts';
import type { FileRecord } from '../api/types.ts';
import { formatNumber, percentOf } from '../format.ts';
import { announce } from '../shell/announce.ts';
import { Dialog } from '../shell/dialog.tsx';
import { notifyFailure, wordsFor } from '../shell/notify.ts';
import { useLast } from '../shell/use-last.ts';
import { strings } from '../strings.ts';
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
  const removal = useMutation({
    mutationFn: (chosen: readonly FileRecord[]) => deleteAll(chosen, setDone),
    onSuccess: (failures) => {
      const [first] = failures;
      if (first === undefined) return announce(words.done(formatNumber(shown.length), shown.length === 1));
      notifications.show({
        color: 'red',
        title: words.failed(formatNumber(failures.length), failures.length === 1),
        message: wordsFor(first),
        role: 'alert',
      });
    },
    onError: notifyFailure,
    onSettled: async () => {
      await Promise.all([
        queryClient.invalidateQueries({ queryKey: FILES }),
        queryClient.invalidateQueries(profileQuery),
      ]);
      onClose();
      setDone(0);
    },
  });
  const isOne = shown.length === 1;
  const close = () => {
    if (!removal.isPending) onClose();
  };
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
        <Group justify="end">
          <Button variant="default" onClick={close} disabled={removal.isPending} data-autofocus>
            {strings.cancel}
          </Button>
          <Button color="red" loading={removal.isPending} onClick={() => removal.mutate(shown)}>
            {words.confirm}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
