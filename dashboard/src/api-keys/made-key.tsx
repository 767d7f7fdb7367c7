import { Alert, Button, Group, Stack, Tabs, Text } from '@mantine/core';
import IconAlertTriangle from '@tabler/icons-react/dist/esm/icons/IconAlertTriangle.mjs';
import IconDownload from '@tabler/icons-react/dist/esm/icons/IconDownload.mjs';
import { useEffect, useRef } from 'react';
import type { ApiKeyWithSecret } from '../../../clients/typescript/src/index.ts';
import { API } from '../api/client.ts';
import { strings } from '../strings.ts';
import { CodeBlock } from '../ui/code-block.tsx';
import { shareXConfig, shareXFileName } from './share-x.ts';

const words = strings.apiKeys.made;

/** Shows the new key, and how to use it with curl, a shell and ShareX. */
export function MadeKey({ made, onDone }: { made: ApiKeyWithSecret; onDone: () => void }) {
  const shown = useRef<HTMLElement>(null);
  // The form that had the focus is gone. The closing button must not get the focus, because pressing Enter twice would lose the key.
  useEffect(() => shown.current?.focus(), []);
  const uploadUrl = `${location.origin}${API}/files`;
  const curl = `curl -F file=@photo.jpg -H "Authorization: Bearer ${made.key}" ${uploadUrl}`;
  // A single command: if a shell runs pasted lines one by one, `read` would take the next line as its input.
  const shell = [
    'read -rs FILE_HOSTING_KEY && export FILE_HOSTING_KEY &&',
    `  curl -F file=@photo.jpg -H "Authorization: Bearer $FILE_HOSTING_KEY" ${uploadUrl}`,
  ].join(' \\\n');
  return (
    <Stack>
      <Text>{words.once}</Text>
      <section aria-label={words.key} ref={shown} tabIndex={-1}>
        <CodeBlock code={made.key} />
      </section>
      <Alert color="orange" variant="outline" icon={<IconAlertTriangle aria-hidden />}>
        {words.where}
      </Alert>
      <Tabs defaultValue="curl">
        <Tabs.List>
          <Tabs.Tab value="curl">{words.curl}</Tabs.Tab>
          <Tabs.Tab value="shell">{words.shell}</Tabs.Tab>
          <Tabs.Tab value="sharex">{words.sharex}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="curl" pt="sm">
          <Snippet help={words.curlHelp} code={curl} />
        </Tabs.Panel>
        <Tabs.Panel value="shell" pt="sm">
          <Snippet help={words.shellHelp} code={shell} />
        </Tabs.Panel>
        <Tabs.Panel value="sharex" pt="sm">
          <Text size="sm" mb="xs">
            {words.sharexHelp}
          </Text>
          <Button
            variant="default"
            leftSection={<IconDownload size={16} aria-hidden />}
            onClick={() => download(shareXFileName(location.hostname), shareXConfig(uploadUrl, made.key))}
          >
            {words.download}
          </Button>
        </Tabs.Panel>
      </Tabs>
      <Group justify="end">
        <Button onClick={onDone}>{words.done}</Button>
      </Group>
    </Stack>
  );
}

/** Commands to copy, with an explanation. */
function Snippet({ help, code }: { help: string; code: string }) {
  return (
    <>
      <Text size="sm" mb="xs">
        {help}
      </Text>
      <CodeBlock code={code} />
    </>
  );
}

function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  URL.revokeObjectURL(url);
}
