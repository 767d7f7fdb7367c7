import { EXTENSIONS_OF_TYPES } from './media-type-table.ts';

const UNKNOWN_MEDIA_TYPE = 'application/octet-stream';

/** RFC 6838, section 4.2: type and subtype begin with a letter or digit. (Some clients send `*`. That is no valid type.) */
const MEDIA_TYPE = /^([a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126})[ \t]*(?:;|$)/;
const CHARSET = /;[ \t]*charset=("?)([a-z0-9][a-z0-9_.:+-]{0,39})\1[ \t]*(?:;|$)/;

/**
 * The types of images, audio and video that browsers show, and that cannot run script. The list has whole types, because a prefix such as
 * `image/` would include `image/svg+xml`, which can run script. (The CDN's edge function recognises such types by a pattern of its own,
 * `MEDIA_TYPE` in `infra/edge/cdn-viewer-response.js`.)
 */
export const INLINE_MEDIA_TYPES: readonly string[] = [
  'image/apng',
  'image/avif',
  'image/bmp',
  'image/gif',
  'image/jpeg',
  'image/png',
  'image/vnd.microsoft.icon',
  'image/webp',
  'image/x-icon',
  'audio/aac',
  'audio/flac',
  'audio/mp4',
  'audio/mpeg',
  'audio/ogg',
  'audio/wav',
  'audio/webm',
  'audio/x-m4a',
  'audio/x-wav',
  'video/mp4',
  'video/ogg',
  'video/quicktime',
  'video/webm',
];

/** The types that a browser is told to show rather than to save. */
export const INLINE_TYPES: readonly string[] = [...INLINE_MEDIA_TYPES, 'text/plain', 'application/pdf'];

const TYPES_OF_EXTENSIONS: ReadonlyMap<string, string> = new Map(
  Object.entries(EXTENSIONS_OF_TYPES).flatMap(([type, extensions]) => extensions.split(' ').map((one) => [one, type])),
);

/**
 * The media type with which a file is stored and served. A valid declared type is used in lower case, without parameters except a known
 * charset. Otherwise the extension of the name decides; for an unknown extension the type is `application/octet-stream`. A declared
 * `application/octet-stream` says nothing, so it counts as not declared (decision 0006).
 * @param declared  as the client sent it.
 * @returns printable ASCII, under 320 characters.
 */
export function mediaType(declared: string | undefined, fileName: string): string {
  const text = (declared ?? '').trim().toLowerCase();
  const type = MEDIA_TYPE.exec(text)?.[1];
  if (type === undefined || type === UNKNOWN_MEDIA_TYPE) return typeOfExtension(fileName);
  const charset = CHARSET.exec(text)?.[2];
  return charset !== undefined && isKnownCharset(charset) ? `${type}; charset=${charset}` : type;
}

/** The usual extension for files of this type, with its dot; empty for a type that is not in our table. */
export function extensionOf(mimeType: string): string {
  const type = withoutParameters(mimeType);
  if (!Object.hasOwn(EXTENSIONS_OF_TYPES, type)) return '';
  return `.${EXTENSIONS_OF_TYPES[type]?.split(' ')[0]}`;
}

/** True when a browser may show this type; it must save all others. @param mimeType  as {@link mediaType} returns it. */
export function isInline(mimeType: string): boolean {
  return INLINE_TYPES.includes(withoutParameters(mimeType));
}

function typeOfExtension(fileName: string): string {
  const extension = /\.([a-z0-9]+)$/i.exec(fileName)?.[1]?.toLowerCase() ?? '';
  return TYPES_OF_EXTENSIONS.get(extension) ?? UNKNOWN_MEDIA_TYPE;
}

/** True for the charsets that browsers know (WHATWG Encoding). UTF-7, which can hide script in text, is not one of them. */
function isKnownCharset(label: string): boolean {
  try {
    new TextDecoder(label);
    return true;
  } catch {
    return false;
  }
}

function withoutParameters(mimeType: string): string {
  return mimeType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}
