import { ActionIcon, Button, Table, Text, Title } from '@mantine/core';
import IconKey from '@tabler/icons-react/dist/esm/icons/IconKey.mjs';
import IconPlus from '@tabler/icons-react/dist/esm/icons/IconPlus.mjs';
import IconTrash from '@tabler/icons-react/dist/esm/icons/IconTrash.mjs';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ApiKey } from '../../../clients/typescript/src/index.ts';
import { apiKeysQuery } from '../api/queries.ts';
import { formatTime } from '../format.ts';
import { strings } from '../strings.ts';
import { Ago } from '../ui/ago.tsx';
import { EmptyBox } from '../ui/empty-box.tsx';
import { ListState } from '../ui/list-state.tsx';
import list from '../ui/list-table.module.css';
import { usePageTitle } from '../ui/use-page-title.ts';
import styles from './api-keys-page.module.css';
import { CreateKey } from './create-key.tsx';
import { RevokeKey } from './revoke-key.tsx';

const words = strings.apiKeys;

export function ApiKeysPage() {
  const query = useQuery(apiKeysQuery);
  const { data: keys } = query;
  const [isCreating, setIsCreating] = useState(false);
  const [revoking, setRevoking] = useState<ApiKey>();
  usePageTitle(words.title);
  return (
    <>
      <div className={styles.head}>
        <Title order={1}>{words.title}</Title>
        <Button leftSection={<IconPlus size={18} aria-hidden />} onClick={() => setIsCreating(true)}>
          {words.create}
        </Button>
      </div>
      <Text c="dimmed" mb="lg">
        {words.lead}
      </Text>
      <ListState query={query} />
      {keys?.length === 0 && (
        <EmptyBox label={words.title}>
          <IconKey size={48} stroke={1.5} aria-hidden />
          <Text>{words.empty}</Text>
        </EmptyBox>
      )}
      {keys !== undefined && keys.length > 0 && <KeyTable keys={keys} onRevoke={setRevoking} />}
      <CreateKey isOpen={isCreating} onClose={() => setIsCreating(false)} />
      <RevokeKey apiKey={revoking} onClose={() => setRevoking(undefined)} />
    </>
  );
}

function KeyTable({ keys, onRevoke }: { keys: readonly ApiKey[]; onRevoke: (key: ApiKey) => void }) {
  return (
    <Table className={list.table}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{words.columns.name}</Table.Th>
          <Table.Th className={styles.prefix}>{words.columns.prefix}</Table.Th>
          <Table.Th className={list.created}>{words.columns.created}</Table.Th>
          <Table.Th className={list.used}>{words.columns.lastUsed}</Table.Th>
          <Table.Th className={list.actions}>{words.columns.actions}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {keys.map((key) => (
          <Table.Tr key={key.id} className={list.row}>
            <Table.Td>
              <span className={`one-line ${list.name}`} title={key.name} translate="no">
                {key.name}
              </span>
              <code className={styles.below} translate="no">
                {key.key_prefix}…
              </code>
            </Table.Td>
            <Table.Td className={styles.prefix}>
              <code translate="no">{key.key_prefix}…</code>
            </Table.Td>
            <Table.Td className={list.created}>
              <time dateTime={key.created_at}>{formatTime(key.created_at)}</time>
            </Table.Td>
            <Table.Td className={list.used}>
              <LastUsed at={key.last_used_at} />
            </Table.Td>
            <Table.Td className={list.actions}>
              <ActionIcon aria-label={words.revoke(key.name)} onClick={() => onRevoke(key)}>
                <IconTrash size={18} aria-hidden />
              </ActionIcon>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function LastUsed({ at }: { at: string | null }) {
  if (at !== null) return <Ago at={at} />;
  return (
    <Text c="dimmed" size="sm">
      {words.neverUsed}
    </Text>
  );
}
