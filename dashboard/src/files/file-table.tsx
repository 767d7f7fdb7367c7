import { ActionIcon, Checkbox, Skeleton, Table, UnstyledButton, VisuallyHidden } from '@mantine/core';
import IconDownload from '@tabler/icons-react/dist/esm/icons/IconDownload.mjs';
import IconExternalLink from '@tabler/icons-react/dist/esm/icons/IconExternalLink.mjs';
import IconTrash from '@tabler/icons-react/dist/esm/icons/IconTrash.mjs';
import type { FileRecord } from '../../../clients/typescript/src/index.ts';
import { downloadUrl } from '../../../clients/typescript/src/index.ts';
import { formatBytes, formatDate, formatTime } from '../format.ts';
import { strings } from '../strings.ts';
import { CopyLink } from '../ui/copy-link.tsx';
import styles from './file-table.module.css';
import { Thumbnail } from './thumbnail.tsx';
import type { Selection } from './use-selection.ts';

const words = strings.files;

/** Placeholder rows that fill a screen, so that nothing moves when the files are loaded. */
const EMPTY_ROWS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

interface FileTableProps {
  /** The files of the page; undefined while they are loading. */
  readonly files: readonly FileRecord[] | undefined;
  /** True while the files of the previous page or search are shown. */
  readonly isStale: boolean;
  readonly selection: Selection;
  readonly onShow: (file: FileRecord) => void;
  readonly onRemove: (file: FileRecord) => void;
}

/** One page of files. On a narrow screen, size and date are below the name. */
export function FileTable({ files, isStale, selection, onShow, onRemove }: FileTableProps) {
  if (files?.length === 0) return null;
  const { chosen } = selection;
  return (
    <Table className={styles.table} highlightOnHover aria-busy={!files || isStale} data-stale={isStale || undefined}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th className={styles.select}>
            <Checkbox
              aria-label={words.selectAll}
              disabled={!files || isStale}
              checked={files !== undefined && chosen.length === files.length}
              indeterminate={chosen.length > 0 && chosen.length < (files?.length ?? 0)}
              onChange={() => (chosen.length === files?.length ? selection.clear() : selection.all())}
            />
          </Table.Th>
          <Table.Th>{words.columns.name}</Table.Th>
          <Table.Th className={styles.type}>{words.columns.type}</Table.Th>
          <Table.Th className={styles.size}>{words.columns.size}</Table.Th>
          <Table.Th className={styles.created}>{words.columns.created}</Table.Th>
          <Table.Th className={styles.actions}>{words.columns.actions}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {files
          ? files.map((file) => (
              <FileRow key={file.id} file={file} selection={selection} onShow={onShow} onRemove={onRemove} />
            ))
          : EMPTY_ROWS.map((key) => (
              <Table.Tr key={key} className={styles.row}>
                {/* One cell per column: a single wide cell would give the hidden columns their width back. */}
                <Table.Td className={styles.select} />
                <Table.Td>
                  <Skeleton height={20} radius="sm" />
                </Table.Td>
                <Table.Td className={styles.type} />
                <Table.Td className={styles.size} />
                <Table.Td className={styles.created} />
                <Table.Td className={styles.actions} />
              </Table.Tr>
            ))}
      </Table.Tbody>
    </Table>
  );
}

interface FileRowProps extends Pick<FileTableProps, 'selection' | 'onShow' | 'onRemove'> {
  readonly file: FileRecord;
}

function FileRow({ file, selection, onShow, onRemove }: FileRowProps) {
  const { id, name, mime_type, size_bytes, created_at, url } = file;
  return (
    <Table.Tr className={styles.row} data-selected={selection.has(id) || undefined}>
      <Table.Td className={styles.select}>
        <Checkbox
          aria-label={words.select(name)}
          checked={selection.has(id)}
          onChange={({ nativeEvent }) => selection.toggle(id, (nativeEvent as PointerEvent).shiftKey === true)}
        />
      </Table.Td>
      <Table.Td className={styles.name}>
        <UnstyledButton className={styles.show} onClick={() => onShow(file)}>
          <Thumbnail file={file} />
          <span className={styles.text}>
            <span className="one-line" title={name}>
              <VisuallyHidden>{words.detailsOf}</VisuallyHidden> <span translate="no">{name}</span>
            </span>
            <span className={styles.under}>
              {formatBytes(size_bytes)} · {formatDate(created_at)}
            </span>
          </span>
        </UnstyledButton>
      </Table.Td>
      <Table.Td className={styles.type}>
        <span className="one-line" title={mime_type} translate="no">
          {mime_type}
        </span>
      </Table.Td>
      <Table.Td className={styles.size}>{formatBytes(size_bytes)}</Table.Td>
      <Table.Td className={styles.created}>
        <time dateTime={created_at}>{formatTime(created_at)}</time>
      </Table.Td>
      <Table.Td className={styles.actions}>
        <span className={styles.buttons}>
          <CopyLink file={file} />
          <LinkButton href={url} label={words.open(name)} icon={<IconExternalLink size={18} aria-hidden />} />
          <LinkButton
            href={downloadUrl(file)}
            label={words.download(name)}
            icon={<IconDownload size={18} aria-hidden />}
          />
          <ActionIcon aria-label={words.remove(name)} onClick={() => onRemove(file)}>
            <IconTrash size={18} aria-hidden />
          </ActionIcon>
        </span>
      </Table.Td>
    </Table.Tr>
  );
}

/** A button of a row that opens an address in a tab of its own; on a narrow page it is only in the details. */
function LinkButton({ href, label, icon }: { href: string; label: string; icon: React.ReactNode }) {
  return (
    <ActionIcon component="a" href={href} target="_blank" rel="noreferrer" aria-label={label} className={styles.wide}>
      {icon}
    </ActionIcon>
  );
}
