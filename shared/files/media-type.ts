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
const ALIASES_OF_TYPES: Readonly<Record<string, string>> = {
  'application/gzip': 'application/x-gzip',
  'application/json': 'text/json application/x-json',
  'application/pdf': [
    'application/x-pdf application/acrobat application/vnd.pdf',
    'applications/vnd.pdf text/pdf text/x-pdf',
  ].join(' '),
  'application/xml': 'text/xml',
  'application/yaml': 'text/yaml text/x-yaml application/x-yaml',
  'application/zip': 'application/x-zip application/x-zip-compressed',
  'audio/aac': 'audio/x-aac audio/aacp audio/x-hx-aac-adts audio/vnd.dlna.adts audio/x-aacp',
  'audio/flac': 'audio/x-flac',
  'audio/mp4': 'audio/m4a audio/x-m4a audio/mp4a audio/x-mp4 audio/m4b audio/x-m4b audio/x-m4p',
  'audio/mpeg': [
    'audio/mp3 audio/x-mp3 audio/mpeg3 audio/x-mpeg audio/x-mpeg-3',
    'audio/mpg audio/x-mpg audio/x-mpeg3 audio/x-mpegaudio',
  ].join(' '),
  'audio/ogg': [
    'audio/opus audio/x-ogg audio/vorbis audio/x-vorbis+ogg application/ogg',
    'application/x-ogg audio/oga audio/x-opus audio/x-opus+ogg audio/x-vorbis',
  ].join(' '),
  'audio/wav': 'audio/wave audio/x-wav audio/x-wave audio/vnd.wave audio/x-pn-wav audio/x-pn-windows-pcm',
  'audio/webm': 'audio/x-webm',
  'image/apng': 'image/x-apng image/vnd.mozilla.apng',
  'image/avif': 'image/avif-sequence',
  'image/bmp': [
    'image/x-bmp image/x-ms-bmp image/x-windows-bmp image/bitmap image/ms-bmp',
    'image/x-bitmap image/x-win-bitmap application/bmp application/x-bmp',
  ].join(' '),
  'image/gif': 'image/x-gif application/gif application/x-gif',
  'image/jpeg': [
    'image/jpg image/pjpeg image/x-jpeg image/x-jpg image/jpe',
    'image/pipeg image/x-pjpeg image/x-citrix-jpeg application/jpg application/x-jpg',
  ].join(' '),
  'image/png': 'image/x-png image/x-citrix-png application/png application/x-png',
  'image/tiff': 'image/tif image/x-tiff image/x-tif',
  'image/webp': 'image/x-webp',
  'image/x-icon': 'image/vnd.microsoft.icon image/ico image/icon image/x-ico application/ico application/x-ico',
  'text/csv': 'text/x-csv application/csv application/x-csv text/comma-separated-values',
  'text/javascript': 'application/javascript application/x-javascript application/ecmascript',
  'text/markdown': 'text/x-markdown text/x-web-markdown application/markdown application/x-markdown',
  'text/plain': 'application/plain application/text application/txt application/x-text text/txt',
  'video/mp4': 'video/m4v video/x-m4v video/x-mp4 video/mpeg4 video/x-mpeg4 video/mpg4 video/mp4v-es',
  'video/ogg': 'video/x-ogg video/theora video/x-theora+ogg video/ogv video/x-theora video/x-ogm+ogg',
  'video/quicktime': 'video/x-quicktime video/mov video/qt video/x-mov image/mov',
  'video/webm': 'video/x-webm',
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

const TYPES_OF_EXTENSIONS = typesOf(EXTENSIONS_OF_TYPES);
const TYPES_OF_ALIASES = typesOf(ALIASES_OF_TYPES);

function typesOf(names: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(names).flatMap(([type, some]) => some.split(' ').map((one) => [one, type])));
}

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
  const registered = TYPES_OF_ALIASES.get(type) ?? type;
  const charset = CHARSET.exec(text)?.[2]?.toLowerCase();
  return charset !== undefined && isKnownCharset(charset) ? `${registered}; charset=${charset}` : registered;
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
