import { createHash, randomBytes } from 'node:crypto';

/** Digits of base 62, in the order of their values. */
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BITS_PER_CHARACTER = Math.log2(BASE62.length);
/** Random bytes from this value on are discarded. It is 248, the largest multiple of 62 up to 256, so all digits are equally likely. */
const FAIR_BYTES = 256 - (256 % BASE62.length);

/**
 * A token of letters and digits that cannot be guessed. It has at least `bits` random bits from the system's random source. Its length
 * depends only on `bits`: 22 characters for 128 bits, 43 for 256.
 */
export function randomToken(bits: number): string {
  const length = Math.ceil(bits / BITS_PER_CHARACTER);
  let token = '';
  while (token.length < length) {
    for (const byte of randomBytes(length - token.length)) {
      if (byte < FAIR_BYTES) token += BASE62[byte % BASE62.length];
    }
  }
  return token;
}

/** `value` (a whole number ≥ 0) in base 62, padded with zeros on the left to `width` characters. */
export function toBase62(value: number, width: number): string {
  let text = '';
  for (let rest = value; rest > 0; rest = Math.floor(rest / BASE62.length)) text = BASE62[rest % BASE62.length] + text;
  return text.padStart(width, '0');
}

/**
 * An id whose text sorts by the time at which the id was made, in milliseconds. 74 of its bits are random, or 54 if it carries a number. So
 * the id is unique, but not secret. Source: RFC 9562, section 5.7.
 * @param now  epoch milliseconds.
 * @param carried  a number of 20 bits, to be read by {@link numberOfUuid}. Without it, these bits are random as well.
 */
export function uuidv7(now: number = Date.now(), carried?: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now, 0, 6);
  if (carried !== undefined) {
    // The number leaves out byte 8, because that byte begins with the variant of the UUID.
    bytes.writeUInt16BE(carried >> 8, 6);
    bytes.writeUInt8(carried & 0xff, 9);
  }
  return formatUuid(bytes, 7);
}

/** The time at which {@link uuidv7} made an id, in epoch milliseconds. */
export function timeOfUuid(id: string): number {
  return Number.parseInt(id.replace('-', '').slice(0, 12), 16);
}

/** The number of 20 bits that {@link uuidv7} put into an id. */
export function numberOfUuid(id: string): number {
  return Number.parseInt(id.slice(15, 18) + id.slice(21, 23), 16);
}

/**
 * The id of a name; the same name always has the same id. Source: RFC 9562, section 5.5.
 * @param namespace  a UUID that separates this use of names from others.
 */
export function uuidv5(namespace: string, name: string): string {
  const namespaceBytes = Buffer.from(namespace.replaceAll('-', ''), 'hex');
  return formatUuid(createHash('sha1').update(namespaceBytes).update(name).digest().subarray(0, 16), 5);
}

/** The id of something that has a hash: the first bits of the hash. Source: RFC 9562, section 5.8. @param hash  in hexadecimal. */
export function uuidv8(hash: string): string {
  return formatUuid(Buffer.from(hash.slice(0, 32), 'hex'), 8);
}

const UUID_GROUPS = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;
const UUID_FORMAT = '$1-$2-$3-$4-$5';

/** True for a UUID in the form that we write: lower-case, with hyphens. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text);
}

/** Writes the version and RFC 9562's variant into 16 bytes, and formats them. */
function formatUuid(bytes: Buffer, version: number): string {
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | (version << 4), 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(UUID_GROUPS, UUID_FORMAT);
}
