import { EXTENSIONS_OF_TYPES } from './media-type-table.ts';

const UNKNOWN_MEDIA_TYPE = 'application/octet-stream';

/** Types by which clients say that they do not know the type, or that the file is to be saved. */
const SAYS_NOTHING: readonly string[] = [
  UNKNOWN_MEDIA_TYPE,
  ...['application/binary', 'application/x-binary', 'application/x-octet-stream', 'binary/octet-stream'],
  ...['application/download', 'application/x-download', 'application/force-download'],
  ...['application/unknown', 'application/x-unknown', 'content/unknown', 'unknown/unknown'],
];

/** What clients send instead of the registered name of a type. Browsers know some of these names, and others not. */
const REGISTERED_TYPES: Readonly<Record<string, string>> = {
  ...aliases('application/gzip', 'application/x-gzip'),
  ...aliases('application/json', 'text/json', 'application/x-json'),
  ...aliases('application/pdf', 'application/x-pdf'),
  ...aliases('application/xml', 'text/xml'),
  ...aliases('application/yaml', 'text/yaml', 'text/x-yaml', 'application/x-yaml'),
  ...aliases('application/zip', 'application/x-zip', 'application/x-zip-compressed'),
  ...aliases('audio/aac', 'audio/x-aac', 'audio/aacp', 'audio/x-hx-aac-adts'),
  ...aliases('audio/flac', 'audio/x-flac'),
  ...aliases('audio/mp4', 'audio/m4a', 'audio/x-m4a', 'audio/mp4a', 'audio/x-mp4'),
  ...aliases('audio/mpeg', 'audio/mp3', 'audio/x-mp3', 'audio/mpeg3', 'audio/x-mpeg', 'audio/x-mpeg-3', 'audio/mpg'),
  ...aliases('audio/ogg', 'audio/opus', 'audio/x-ogg', 'audio/vorbis', 'audio/x-vorbis+ogg'),
  ...aliases('audio/wav', 'audio/wave', 'audio/x-wav', 'audio/x-wave', 'audio/vnd.wave', 'audio/x-pn-wav'),
  ...aliases('audio/webm', 'audio/x-webm'),
  ...aliases('image/avif', 'image/avif-sequence'),
  ...aliases('image/bmp', 'image/x-bmp', 'image/x-ms-bmp', 'image/x-windows-bmp'),
  ...aliases('image/jpeg', 'image/jpg', 'image/pjpeg', 'image/x-jpeg', 'image/x-jpg', 'image/jpe'),
  ...aliases('image/png', 'image/x-png'),
  ...aliases('image/tiff', 'image/tif', 'image/x-tiff', 'image/x-tif'),
  ...aliases('image/webp', 'image/x-webp'),
  ...aliases('image/x-icon', 'image/vnd.microsoft.icon', 'image/ico', 'image/icon'),
  ...aliases('text/csv', 'text/x-csv', 'application/csv', 'application/x-csv', 'text/comma-separated-values'),
  ...aliases('text/javascript', 'application/javascript', 'application/x-javascript', 'application/ecmascript'),
  ...aliases('text/markdown', 'text/x-markdown', 'text/x-web-markdown'),
  ...aliases('video/mp4', 'video/m4v', 'video/x-m4v', 'video/x-mp4'),
  ...aliases('video/ogg', 'video/x-ogg', 'video/theora', 'video/x-theora+ogg'),
  ...aliases('video/quicktime', 'video/x-quicktime', 'video/mov'),
  ...aliases('video/webm', 'video/x-webm'),
};

/** RFC 6838, section 4.2: type and subtype begin with a letter or digit. (Some clients send `*`. That is no valid type.) */
const MEDIA_TYPE = /^([a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126})[ \t]*(?:;|$)/i;
const CHARSET = /;[ \t]*charset=("?)([a-z0-9][a-z0-9_.:+-]{0,39})\1[ \t]*(?:;|$)/i;

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
  'image/webp',
  'image/x-icon',
  'audio/aac',
  'audio/flac',
  'audio/mp4',
  'audio/mpeg',
  'audio/ogg',
  'audio/wav',
  'audio/webm',
  'video/mp4',
  'video/ogg',
  'video/quicktime',
  'video/webm',
];

/**
 * Text that people read: data and source. Markup that a browser would render, and could run script in, is not among it: HTML, XML, and what
 * Internet Explorer ran. The CDN's edge function gives such text to the browser's window as `text/plain`.
 */
const READABLE_TEXT = [
  /^text\/(?!$|.*(?:html|xml|xsl|rtf|component|scriptlet))/,
  /^[a-z]+\/(?:.+\+)?(?:json|yaml|json-seq)$/,
  /^application\/(?:x-)?(?:ndjson|jsonl|jsonlines|json5|toml|sql|graphql|typescript|tex|latex|bibtex|subrip|patch|diff|(?:c|ba|z|fi)?sh)$/,
  /^application\/(?:x-)?(?:httpd-)?(?:shellscript|perl|php|python|ruby|lua|powershell)$/,
];

const TYPES_OF_EXTENSIONS: ReadonlyMap<string, string> = new Map(
  Object.entries(EXTENSIONS_OF_TYPES).flatMap(([type, extensions]) => extensions.split(' ').map((one) => [one, type])),
);

/**
 * The media type with which a file is stored and served. A valid declared type is used in lower case, by its registered name, without
 * parameters except a known charset. Otherwise the extension of the name decides; for an unknown extension the type is
 * `application/octet-stream`. A declared type that says nothing counts as not declared (decision 0006).
 * @param declared  as the client sent it.
 * @returns printable ASCII, under 320 characters.
 */
export function mediaType(declared: string | undefined, fileName: string): string {
  const text = (declared ?? '').trim();
  const type = MEDIA_TYPE.exec(text)?.[1]?.toLowerCase();
  if (type === undefined || SAYS_NOTHING.includes(type)) return typeOfExtension(fileName);
  const registered = Object.hasOwn(REGISTERED_TYPES, type) ? REGISTERED_TYPES[type] : type;
  const charset = CHARSET.exec(text)?.[2]?.toLowerCase();
  return charset !== undefined && isKnownCharset(charset) ? `${registered}; charset=${charset}` : `${registered}`;
}

function aliases(registered: string, ...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, registered]));
}

/** The usual extension for files of this type, with its dot; empty for a type that is not in our table. */
export function extensionOf(mimeType: string): string {
  const type = withoutParameters(mimeType);
  if (!Object.hasOwn(EXTENSIONS_OF_TYPES, type)) return '';
  return `.${EXTENSIONS_OF_TYPES[type]?.split(' ')[0]}`;
}

/** True when a browser may show this type; it must save all others. @param mimeType  as {@link mediaType} returns it. */
export function isInline(mimeType: string): boolean {
  const type = withoutParameters(mimeType);
  const isMedia = type === 'application/pdf' || INLINE_MEDIA_TYPES.includes(type);
  return isMedia || READABLE_TEXT.some((pattern) => pattern.test(type));
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
