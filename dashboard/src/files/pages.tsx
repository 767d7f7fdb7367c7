import { Button } from '@mantine/core';
import IconChevronLeft from '@tabler/icons-react/dist/esm/icons/IconChevronLeft.mjs';
import IconChevronRight from '@tabler/icons-react/dist/esm/icons/IconChevronRight.mjs';
import { Link } from '@tanstack/react-router';
import { formatNumber } from '../format.ts';
import { strings } from '../strings.ts';
import styles from './pages.module.css';

const words = strings.files;

/** The search parameters of the files page. */
export interface FilesSearch {
  readonly page?: number | undefined;
  readonly search?: string | undefined;
}

/** How many pages before and after the current one have a link. */
const AROUND = 2;

/** Links to the pages of the list. */
export function Pages({ page, count }: { page: number; count: number }) {
  if (count <= 1) return null;
  const shown = [...new Set([1, ...around(page, count), count])];
  return (
    <nav className={styles.pages} aria-label={words.pages}>
      <PageLink page={page - 1} isOff={page <= 1} label={words.previousPage}>
        <IconChevronLeft size={16} aria-hidden />
      </PageLink>
      {shown.map((number, index) => (
        <span key={number} className={styles.step}>
          {index > 0 && number - (shown[index - 1] ?? 0) > 1 && <span aria-hidden>…</span>}
          <PageLink page={number} isCurrent={number === page}>
            {formatNumber(number)}
          </PageLink>
        </span>
      ))}
      <PageLink page={page + 1} isOff={page >= count} label={words.nextPage}>
        <IconChevronRight size={16} aria-hidden />
      </PageLink>
    </nav>
  );
}

/** @returns a function that sets the page in search parameters; the first page has no parameter. */
export function toPage(page: number): (search: FilesSearch) => FilesSearch {
  return ({ page: _, ...others }) => (page === 1 ? others : { ...others, page });
}

function around(page: number, count: number): number[] {
  return Array.from({ length: 2 * AROUND + 1 }, (_, index) => page - AROUND + index).filter(
    (number) => number >= 1 && number <= count,
  );
}

interface PageLinkProps {
  readonly page: number;
  readonly isCurrent?: boolean;
  readonly isOff?: boolean;
  readonly label?: string;
  readonly children: React.ReactNode;
}

function PageLink({ page, isCurrent = false, isOff = false, label, children }: PageLinkProps) {
  const look = { size: 'compact-md', variant: isCurrent ? 'light' : 'default', 'aria-label': label } as const;
  if (isOff)
    return (
      <Button {...look} disabled>
        {children}
      </Button>
    );
  return (
    <Button
      {...look}
      renderRoot={(props) => (
        <Link from="/" to="/" search={toPage(page)} aria-current={isCurrent ? 'page' : undefined} {...props} />
      )}
    >
      {children}
    </Button>
  );
}
