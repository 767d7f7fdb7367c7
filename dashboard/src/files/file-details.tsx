import { Button, Group, Stack, TextInput } from '@mantine/core';
import IconDownload from '@tabler/icons-react/dist/esm/icons/IconDownload.mjs';
import IconExternalLink from '@tabler/icons-react/dist/esm/icons/IconExternalLink.mjs';
import IconTrash from '@tabler/icons-react/dist/esm/icons/IconTrash.mjs';
import type { FileRecord } from '../../../clients/typescript/src/index.ts';
import { downloadUrl } from '../../../clients/typescript/src/index.ts';
import { formatBytes, formatNumber, formatTime } from '../format.ts';
import { strings } from '../strings.ts';
import { Dialog } from '../ui/dialog.tsx';
import { useCopy } from '../ui/use-copy.ts';
import { useLast } from '../ui/use-last.ts';
import styles from './file-details.module.css';

const words = strings.details;

interface FileDetailsProps {
  /** The file that is shown; undefined when the dialog is closed. */
  readonly file: FileRecord | undefined;
  readonly onClose: () => void;
  readonly onRemove: (file: FileRecord) => void;
}

/** The dialog with all details of a file. */
export function FileDetails({ file, onClose, onRemove }: FileDetailsProps) {
  // The file stays visible while the dialog closes.
  const shown = useLast(file);
  const { isCopied, copy } = useCopy(shown?.url ?? '');
  return (
    <Dialog opened={file !== undefined} onClose={onClose} title={words.title}>
      {shown && (
        <Stack>
          <Group gap="xs" align="end" wrap="nowrap">
            <TextInput
              className={styles.link}
              label={words.link}
              value={shown.url}
              readOnly
              onFocus={({ currentTarget }) => currentTarget.select()}
            />
            <Button onClick={copy}>{isCopied ? strings.copied : strings.copy}</Button>
          </Group>
          <dl className={styles.facts}>
            <dt>{words.name}</dt>
            <dd translate="no">{shown.name}</dd>
            <dt>{words.type}</dt>
            <dd translate="no">{shown.mime_type}</dd>
            <dt>{words.size}</dt>
            <dd>
              {formatBytes(shown.size_bytes)}
              {shown.size_bytes >= 1024 && ` (${words.bytes(formatNumber(shown.size_bytes))})`}
            </dd>
            <dt>{words.created}</dt>
            <dd>
              <time dateTime={shown.created_at}>{formatTime(shown.created_at)}</time>
            </dd>
            <dt>{words.id}</dt>
            <dd>
              <code translate="no">{shown.id}</code>
            </dd>
          </dl>
          <Group justify="space-between">
            <Group gap="xs">
              <Button
                component="a"
                variant="default"
                href={shown.url}
                target="_blank"
                rel="noreferrer"
                leftSection={<IconExternalLink size={16} aria-hidden />}
              >
                {words.open}
              </Button>
              {/* In a tab of its own, because the answer is a page when the file was deleted meanwhile. */}
              <Button
                component="a"
                variant="default"
                href={downloadUrl(shown)}
                target="_blank"
                rel="noreferrer"
                leftSection={<IconDownload size={16} aria-hidden />}
              >
                {words.download}
              </Button>
            </Group>
            <Button
              color="red"
              variant="outline"
              leftSection={<IconTrash size={16} aria-hidden />}
              onClick={() => onRemove(shown)}
            >
              {words.remove}
            </Button>
          </Group>
        </Stack>
      )}
    </Dialog>
  );
}
