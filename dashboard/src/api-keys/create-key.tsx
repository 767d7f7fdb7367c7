import { Alert, Button, Group, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { useState } from 'react';
import { API_KEY_NAME_MAX_CODE_POINTS } from '../../../shared/contract/limits.ts';
import { hosting } from '../api/client.ts';
import { failureOf } from '../api/failure.ts';
import { apiKeysQuery, refreshQueries } from '../api/queries.ts';
import { strings } from '../strings.ts';
import { Dialog } from '../ui/dialog.tsx';
import { messageFor } from '../ui/notify.ts';
import { MadeKey } from './made-key.tsx';

const words = strings.apiKeys;

/** Asks for a name and then shows the key once: the key is kept in no cache, and is gone when the dialog closes. */
export function CreateKey({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const queryClient = useQueryClient();
  const [name, setName] = useState('');
  const creation = useMutation({
    mutationFn: (wanted: string) => hosting.keys.create(wanted),
    // The list is refreshed even after a failure: if only the answer was lost, the key exists.
    onSettled: () => void refreshQueries(queryClient, apiKeysQuery),
    gcTime: 0,
  });
  const close = () => {
    // A running request cannot be cancelled, and only its answer contains the key.
    if (!creation.isPending) onClose();
  };
  const reset = () => {
    setName('');
    creation.reset();
  };
  const made = creation.data;
  useBlocker({
    shouldBlockFn: () => !window.confirm(words.made.leave),
    disabled: !isOpen || !(made || creation.isPending),
  });
  return (
    <Dialog
      opened={isOpen}
      onClose={close}
      // The form is reset only when the dialog is hidden. Otherwise it would be visible again while the dialog closes.
      onExitTransitionEnd={reset}
      title={made ? words.made.title : words.create}
      size={made ? 'lg' : 'md'}
      // A dialog with a key is closed only by its own button, so that the key is not lost by mistake.
      withCloseButton={!made}
      closeOnClickOutside={!made}
      closeOnEscape={!made}
    >
      {made ? (
        <MadeKey made={made} onDone={onClose} />
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            creation.mutate(name.trim());
          }}
        >
          <Stack>
            <TextInput
              label={words.name}
              description={words.nameHelp}
              placeholder={words.namePlaceholder}
              value={name}
              required
              data-autofocus
              onChange={({ currentTarget }) =>
                setName([...currentTarget.value].slice(0, API_KEY_NAME_MAX_CODE_POINTS).join(''))
              }
            />
            {creation.error && (
              <Alert color="red" variant="outline" role="alert">
                {failureOf(creation.error) === 'invalid_request' ? words.nameRefused : messageFor(creation.error)}
              </Alert>
            )}
            <Group justify="end">
              <Button variant="default" onClick={close} disabled={creation.isPending}>
                {strings.cancel}
              </Button>
              <Button type="submit" loading={creation.isPending} disabled={name.trim() === ''}>
                {words.create}
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Dialog>
  );
}
