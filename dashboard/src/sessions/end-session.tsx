import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Session } from '../../../clients/typescript/src/index.ts';
import { hosting } from '../api/client.ts';
import { failureOf } from '../api/failure.ts';
import { refreshQueries, sessionsQuery } from '../api/queries.ts';
import { formatTime } from '../format.ts';
import { useLogout } from '../login/use-logout.ts';
import { strings } from '../strings.ts';
import { announce } from '../ui/announce.ts';
import { Dialog } from '../ui/dialog.tsx';
import { notifyFailure } from '../ui/failed-request.tsx';
import { Naming } from '../ui/naming.tsx';
import { useLast } from '../ui/use-last.ts';
import { useUploadQueue } from '../uploads/use-uploads.ts';

const words = strings.sessions;

/** Asks for confirmation and ends a session. To end the current one is a logout. @param session  undefined when the dialog is closed. */
export function EndSession({ session, onClose }: { session: Session | undefined; onClose: () => void }) {
  const shown = useLast(session);
  const uploads = useUploadQueue();
  const ending = useEnding(onClose);
  const logOut = useLogout();
  if (!shown) return null;
  const { warning, confirm } = shown.current ? words.endingCurrent : words.ending;
  return (
    <Dialog
      opened={session !== undefined}
      onClose={onClose}
      title={shown.current ? words.endingCurrent.title : <Naming words={words.ending.title} name={shown.device} />}
    >
      <Stack>
        <Text>{warning}</Text>
        {shown.current ? (
          uploads.isBusy && <Text>{strings.navigation.loggingOut.warning}</Text>
        ) : (
          <Text>{words.ending.created(formatTime(shown.created_at))}</Text>
        )}
        <Group justify="end">
          <Button variant="default" onClick={onClose} data-autofocus>
            {strings.cancel}
          </Button>
          <Button
            color="red"
            loading={ending.isPending || logOut.isPending}
            onClick={() => (shown.current ? logOut.mutate('here') : ending.mutate(shown))}
          >
            {confirm}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

function useEnding(onEnded: () => void) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async ({ id }: Session) => {
      await hosting.sessions.end(id).catch((error: unknown) => {
        // The session has already ended, by itself or by an attempt whose answer was lost.
        if (failureOf(error) !== 'not_found') throw error;
      });
    },
    onSuccess: (_, { id }) => {
      queryClient.setQueryData(sessionsQuery.queryKey, (sessions) => sessions?.filter((one) => one.id !== id));
      void refreshQueries(queryClient, sessionsQuery);
      announce(words.ending.done);
      onEnded();
    },
    onError: notifyFailure,
  });
}
