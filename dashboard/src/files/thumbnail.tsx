import IconFile from '@tabler/icons-react/dist/esm/icons/IconFile.mjs';
import IconFileMusic from '@tabler/icons-react/dist/esm/icons/IconFileMusic.mjs';
import IconFileText from '@tabler/icons-react/dist/esm/icons/IconFileText.mjs';
import IconFileTypePdf from '@tabler/icons-react/dist/esm/icons/IconFileTypePdf.mjs';
import IconFileZip from '@tabler/icons-react/dist/esm/icons/IconFileZip.mjs';
import IconMovie from '@tabler/icons-react/dist/esm/icons/IconMovie.mjs';
import IconPhoto from '@tabler/icons-react/dist/esm/icons/IconPhoto.mjs';
import { useState } from 'react';
import type { FileRecord } from '../../../clients/typescript/src/index.ts';
import styles from './thumbnail.module.css';

/** A larger image is shown as an icon: there are no smaller versions, and a page of originals could be gigabytes. */
const MAX_BYTES = 1024 * 1024;

const IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/bmp']);

const ICONS = [
  [/^image\//, IconPhoto],
  [/^video\//, IconMovie],
  [/^audio\//, IconFileMusic],
  [/^application\/pdf$/, IconFileTypePdf],
  [/zip|compressed|tar$|x-7z|rar/, IconFileZip],
  [/^text\/|json|xml/, IconFileText],
] as const;

/** Shows the image itself when it is small, otherwise an icon of the type. Screen readers skip both, because they read the name. */
export function Thumbnail({ file: { url, mime_type, size_bytes } }: { file: FileRecord }) {
  const [isBroken, setIsBroken] = useState(false);
  const Icon = ICONS.find(([pattern]) => pattern.test(mime_type))?.[1] ?? IconFile;
  const isShown = IMAGES.has(mime_type) && size_bytes <= MAX_BYTES && !isBroken;
  return (
    <span className={styles.box} aria-hidden>
      {isShown ? (
        <img
          className={styles.image}
          src={url}
          alt=""
          width={40}
          height={40}
          loading="lazy"
          decoding="async"
          referrerPolicy="no-referrer"
          onError={() => setIsBroken(true)}
        />
      ) : (
        <Icon size={22} />
      )}
    </span>
  );
}
