import { Code, Table, Text, Title } from '@mantine/core';
import { ERRORS } from '../../../shared/errors.ts';
import { ROUTES, type Route } from '../../../shared/routes.ts';
import { API } from '../api/client.ts';
import { strings } from '../strings.ts';
import { CodeBlock } from '../ui/code-block.tsx';
import { usePageTitle } from '../ui/use-page-title.ts';
import { examples } from './examples.ts';
import styles from './reference-page.module.css';

const words = strings.reference;
const routes: readonly Route[] = Object.values(ROUTES);

/** A short reference of the API, generated from the tables that the service itself uses. */
export function ReferencePage() {
  const baseUrl = location.origin + API;
  usePageTitle(words.title);
  return (
    <div className={styles.page}>
      <Title order={1}>{words.title}</Title>
      <Text>{words.lead}</Text>
      <CodeBlock code={baseUrl} />

      <Title order={2}>{words.examples}</Title>
      {examples(baseUrl).map(({ title, code }) => (
        <section key={title} aria-label={title}>
          <Title order={3}>{title}</Title>
          <CodeBlock code={code} />
        </section>
      ))}

      <Title order={2}>{words.routes}</Title>
      <Reference label={words.routes} heads={['method', 'path', 'access', 'counted', 'purpose']}>
        {routes.map(({ method, path, access, rateClass, purpose }) => (
          <Table.Tr key={method + path}>
            <Table.Td>
              <Code>{method}</Code>
            </Table.Td>
            <Table.Td>
              <Code>{path}</Code>
            </Table.Td>
            <Table.Td>{words.access[access]}</Table.Td>
            <Table.Td>{rateClass === undefined ? words.notCounted : <Code>{rateClass}</Code>}</Table.Td>
            <Table.Td>{purpose}</Table.Td>
          </Table.Tr>
        ))}
      </Reference>

      <Title order={2}>{words.errors}</Title>
      <Text>{words.errorsLead}</Text>
      <Reference label={words.errors} heads={['status', 'code', 'meaning']}>
        {Object.entries(ERRORS).map(([code, { status, meaning }]) => (
          <Table.Tr key={code}>
            <Table.Td>{status}</Table.Td>
            <Table.Td>
              <Code>{code}</Code>
            </Table.Td>
            <Table.Td>{meaning.replaceAll('`', '')}</Table.Td>
          </Table.Tr>
        ))}
      </Reference>
    </div>
  );
}

interface ReferenceProps {
  readonly label: string;
  readonly heads: readonly (keyof typeof words.columns)[];
  readonly children: React.ReactNode;
}

/** A wide table, which scrolls horizontally on a narrow screen. */
function Reference({ label, heads, children }: ReferenceProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard.
    <section className={styles.scroller} aria-label={label} tabIndex={0}>
      <Table className={styles.table}>
        <Table.Thead>
          <Table.Tr>
            {heads.map((head) => (
              <Table.Th key={head}>{words.columns[head]}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </section>
  );
}
