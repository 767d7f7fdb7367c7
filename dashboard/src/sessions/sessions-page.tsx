import { ActionIcon, Badge, Table, Text, Title } from '@mantine/core';
import IconLogout from '@tabler/icons-react/dist/esm/icons/IconLogout.mjs';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Session } from '../../../clients/typescript/src/index.ts';
import { sessionsQuery } from '../api/queries.ts';
import { formatTime } from '../format.ts';
import { strings } from '../strings.ts';
import { Ago } from '../ui/ago.tsx';
import { ListState } from '../ui/list-state.tsx';
import list from '../ui/list-table.module.css';
import { usePageTitle } from '../ui/use-page-title.ts';
import { EndSession } from './end-session.tsx';

const words = strings.sessions;

export function SessionsPage() {
  const query = useQuery(sessionsQuery);
  const { data: sessions } = query;
  const [ending, setEnding] = useState<Session>();
  usePageTitle(words.title);
  return (
    <>
      <Title order={1} mb="xs">
        {words.title}
      </Title>
      <Text c="dimmed" mb="lg">
        {words.lead}
      </Text>
      <ListState query={query} />
      {sessions && <SessionTable sessions={sessions} onEnd={setEnding} />}
      {sessions?.length === 1 && (
        <Text c="dimmed" mt="md">
          {words.only}
        </Text>
      )}
      <EndSession session={ending} onClose={() => setEnding(undefined)} />
    </>
  );
}

function SessionTable({ sessions, onEnd }: { sessions: readonly Session[]; onEnd: (session: Session) => void }) {
  const currentFirst = sessions.toSorted((one, other) => Number(other.current) - Number(one.current));
  return (
    <Table className={list.table}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{words.columns.device}</Table.Th>
          <Table.Th className={list.created}>{words.columns.created}</Table.Th>
          <Table.Th className={list.used}>{words.columns.lastUsed}</Table.Th>
          <Table.Th className={list.actions}>{words.columns.actions}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {currentFirst.map((session) => (
          <Table.Tr key={session.id} className={list.row}>
            <Table.Td>
              <span className={list.name} translate="no">
                {session.device}
              </span>
              {session.current && <Badge variant="light">{words.current}</Badge>}
            </Table.Td>
            <Table.Td className={list.created}>
              <time dateTime={session.created_at}>{formatTime(session.created_at)}</time>
            </Table.Td>
            <Table.Td className={list.used}>
              {/* The use that shows this page may not be noted. */}
              {session.current ? words.now : <Ago at={session.last_used_at} />}
            </Table.Td>
            <Table.Td className={list.actions}>
              <ActionIcon
                aria-label={session.current ? words.endCurrent : words.end(session.device)}
                onClick={() => onEnd(session)}
              >
                <IconLogout size={18} aria-hidden />
              </ActionIcon>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
