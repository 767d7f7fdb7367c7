import { ActionIcon, Group, Text, Tooltip } from '@mantine/core';
import IconCheck from '@tabler/icons-react/dist/esm/icons/IconCheck.mjs';
import IconCopy from '@tabler/icons-react/dist/esm/icons/IconCopy.mjs';
import { FileHostingError } from '../../../clients/typescript/src/index.ts';
import { failureOf } from '../api/failure.ts';
import { strings } from '../strings.ts';
import { messageFor, notifyError } from './notify.ts';
import { useCopy } from './use-copy.ts';

/** The id of the failed request, with a button that copies it. With the id, support finds the line of the log that says why it failed. */
export function RequestId({ error }: { error: unknown }) {
  const id = error instanceof FileHostingError ? error.requestId : undefined;
  return id === undefined ? null : <CopyableId id={id} />;
}

function CopyableId({ id }: { id: string }) {
  const { isCopied, copy } = useCopy(id);
  return (
    <Group component="span" gap={4} wrap="nowrap">
      <Text component="span" size="xs" c="dimmed" className="one-line" title={id} translate="no">
        {strings.request(id)}
      </Text>
      <Tooltip label={isCopied ? strings.copied : strings.copyRequest}>
        <ActionIcon size="sm" aria-label={strings.copyRequest} onClick={copy}>
          {isCopied ? (
            <IconCheck size={14} color="var(--mantine-color-green-text)" aria-hidden />
          ) : (
            <IconCopy size={14} aria-hidden />
          )}
        </ActionIcon>
      </Tooltip>
    </Group>
  );
}

/** Shows that a request failed, except when the session has ended, because then the login page appears. */
export function notifyFailure(error: unknown): void {
  if (failureOf(error) === 'unauthorized') return;
  notifyError(
    strings.failed,
    <>
      {messageFor(error)}
      <RequestId error={error} />
    </>,
  );
}
