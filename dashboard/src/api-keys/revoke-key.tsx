import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ApiKey } from '../../../clients/typescript/src/index.ts';
import { hosting } from '../api/client.ts';
import { failureOf } from '../api/failure.ts';
import { apiKeysQuery, refreshQueries } from '../api/queries.ts';
import { strings } from '../strings.ts';
import { announce } from '../ui/announce.ts';
import { Dialog } from '../ui/dialog.tsx';
import { notifyFailure } from '../ui/failed-request.tsx';
import { Naming } from '../ui/naming.tsx';
import { useLast } from '../ui/use-last.ts';

const words = strings.apiKeys.revoking;

/** Asks for confirmation and revokes a key. @param apiKey  the key; undefined when the dialog is closed. */
export function RevokeKey({ apiKey, onClose }: { apiKey: ApiKey | undefined; onClose: () => void }) {
  const shown = useLast(apiKey);
  const queryClient = useQueryClient();
  const revocation = useMutation({
    mutationFn: async ({ id }: ApiKey) => {
      await hosting.keys.revoke(id).catch((error: unknown) => {
        // The key is already revoked, in another tab or by an attempt whose answer was lost.
        if (failureOf(error) !== 'not_found') throw error;
      });
    },
    onSuccess: (_, { id }) => {
      queryClient.setQueryData(apiKeysQuery.queryKey, (keys) => keys?.filter((key) => key.id !== id));
      void refreshQueries(queryClient, apiKeysQuery);
      announce(words.done);
      onClose();
    },
    onError: notifyFailure,
  });
  return (
    <Dialog
      opened={apiKey !== undefined}
      onClose={onClose}
      title={<Naming words={words.title} name={shown?.name ?? ''} />}
    >
      <Stack>
        <Text>{words.warning}</Text>
        <Text>
          <code translate="no">{shown?.key_prefix}…</code>
        </Text>
        <Group justify="end">
          <Button variant="default" onClick={onClose} data-autofocus>
            {strings.cancel}
          </Button>
          <Button color="red" loading={revocation.isPending} onClick={() => shown && revocation.mutate(shown)}>
            {words.confirm}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
