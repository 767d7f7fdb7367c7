import { Button, Text, Title } from '@mantine/core';
import IconCloudUpload from '@tabler/icons-react/dist/esm/icons/IconCloudUpload.mjs';
import { Link } from '@tanstack/react-router';
import { API } from '../api/client.ts';
import { strings } from '../strings.ts';
import { CodeBlock } from '../ui/code-block.tsx';
import { EmptyBox } from '../ui/empty-box.tsx';

const words = strings.files.empty;

/** Replaces the list while the account has no files, and explains how to upload the first one. */
export function EmptyState() {
  return (
    <EmptyBox label={words.title}>
      <IconCloudUpload size={56} stroke={1.5} aria-hidden />
      <Title order={2}>{words.title}</Title>
      <Text c="dimmed">{words.lead}</Text>
      <Text mt="md">{words.program}</Text>
      <CodeBlock
        code={`curl -F file=@photo.jpg -H "Authorization: Bearer $FILE_HOSTING_KEY" ${location.origin}${API}/files`}
      />
      <Button component={Link} to="/api-keys" variant="default">
        {words.toKeys}
      </Button>
    </EmptyBox>
  );
}
