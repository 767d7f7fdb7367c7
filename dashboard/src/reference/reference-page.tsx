import { Anchor, Code, Group, Table, Text, Title, useComputedColorScheme } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { ERRORS } from '../../../shared/contract/errors.ts';
import { API } from '../api/client.ts';
import { untilLoaded } from '../api/queries.ts';
import { strings } from '../strings.ts';
import { Attempts } from '../ui/attempts.tsx';
import { CodeBlock } from '../ui/code-block.tsx';
import { usePageTitle } from '../ui/use-page-title.ts';
import { DOCUMENT_PATH, renderOperations } from './operations.ts';
import styles from './reference-page.module.css';

const words = strings.reference;

const operationsQuery = untilLoaded(['operations'], renderOperations);

/** The API reference: the operations of the OpenAPI document, which people can try out, and the errors. */
export function ReferencePage() {
  usePageTitle(words.title);
  return (
    <div className={styles.page}>
      <Title order={1}>{words.title}</Title>
      <Text>{words.lead}</Text>
      <CodeBlock code={location.origin + API} />
      <Group>
        <Anchor href={DOCUMENT_PATH}>{words.document}</Anchor>
        <Anchor href="/llms.txt">{words.forPrograms}</Anchor>
      </Group>

      <Title order={2}>{words.operations}</Title>
      <Text>{words.operationsLead}</Text>
      <Operations />

      <Title order={2}>{words.errors}</Title>
      <Text>{words.errorsLead}</Text>
      <Errors />
    </div>
  );
}

/** What Swagger UI renders. */
function Operations() {
  const host = useRef<HTMLDivElement>(null);
  const { data: operations } = useQuery(operationsQuery);
  const colorScheme = useComputedColorScheme();
  useEffect(() => {
    const root = document.documentElement;
    root.classList.toggle('dark-mode', colorScheme === 'dark');
    return () => root.classList.remove('dark-mode');
  }, [colorScheme]);
  useEffect(() => {
    if (operations) host.current?.append(operations);
  }, [operations]);
  return (
    <>
      {!operations && <Attempts query={operationsQuery} words={words.failed} />}
      <div ref={host} />
    </>
  );
}

/** A wide table, which scrolls horizontally on a narrow screen. */
function Errors() {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard.
    <section className={styles.scroller} aria-label={words.errors} tabIndex={0}>
      <Table className={styles.table}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{words.columns.status}</Table.Th>
            <Table.Th>{words.columns.code}</Table.Th>
            <Table.Th>{words.columns.meaning}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {Object.entries(ERRORS).map(([code, { status, meaning }]) => (
            <Table.Tr key={code}>
              <Table.Td>{status}</Table.Td>
              <Table.Td>
                <Code>{code}</Code>
              </Table.Td>
              <Table.Td>{meaning.replaceAll('`', '')}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}
