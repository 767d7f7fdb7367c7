import { Alert, Button, Group, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { NewApiKey } from '../../../shared/answers.ts';
import { API_KEY_NAME_MAX_CODE_POINTS } from '../../../shared/limits.ts';
import { Failure } from '../api/failure.ts';
import { apiKeysQuery, askAnew } from '../api/queries.ts';
import { request } from '../api/request.ts';
import { strings } from '../strings.ts';
import { Dialog } from '../ui/dialog.tsx';
import { wordsFor } from '../ui/notify.ts';
import { MadeKey } from './made-key.tsx';

const words = strings.apiKeys;

/** Asks for a name, then shows the key, once: it is in no cache, and goes with the dialog. */
export function CreateKey({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const queryClient = useQueryClient();
  const [name, setName] = useState('');
  const creation = useMutation({
    mutationFn: (wanted: string) => request<NewApiKey>('POST', '/api-keys', { json: { name: wanted } }),
    // Also after a failure: where the answer was lost, there may be a key.
    onSettled: () => void askAnew(queryClient, apiKeysQuery),
    gcTime: 0,
  });
  const close = () => {
    // What is under way cannot be called off, and its answer is the only one that shows the key.
    if (!creation.isPending) onClose();
  };
  const forget = () => {
    setName('');
    creation.reset();
  };
  const made = creation.data;
  return (
    <Dialog
      opened={isOpen}
      onClose={close}
      // Not before it is out of sight: it would show the form again.
      onExitTransitionEnd={forget}
      title={made ? words.made.title : words.create}
      size={made ? 'lg' : 'md'}
      // Nothing but the button that says so must lose the key.
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
                {creation.error instanceof Failure && creation.error.code === 'invalid_request'
                  ? words.nameRefused
                  : wordsFor(creation.error)}
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
