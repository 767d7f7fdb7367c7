import { createHash } from 'node:crypto';
import { randomToken, toBase62 } from '../ids.ts';

/**
 * A key has three parts, in GitHub's format:
 * - `svc_live_` or `svc_test_`;
 * - a secret of 256 random bits in 43 letters and digits;
 * - the CRC32 of the secret in 6 letters and digits.
 *
 * The checksum is not for security. With it, a mistyped key is refused without a database read, and scanners of published code recognise
 * keys with almost no false alarms. Source: github.blog, "Behind GitHub's new authentication token formats".
 */
const SECRET_BITS = 256;
const CHECKSUM_LENGTH = 6;
const FORMAT = /^svc_(?:live|test)_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;

/** `live` in the production stage, `test` in every other. */
export type KeyKind = 'live' | 'test';

export function generateKey(kind: KeyKind): string {
  const secret = randomToken(SECRET_BITS);
  return `svc_${kind}_${secret}${checksum(secret)}`;
}

/** True for a text that has the format and the checksum of a key. Such a key need not exist. */
export function isWellFormedKey(text: string): boolean {
  const [, secret, sum] = FORMAT.exec(text) ?? [];
  return secret !== undefined && checksum(secret) === sum;
}

/**
 * The SHA-256 of a key in hexadecimal. It is stored instead of the key. A plain hash is enough: 256 random bits cannot be guessed, however
 * fast the hash is. A key is checked by a read of the row that has its hash. The time of this read may tell something about the hash, but
 * nothing about the key.
 */
export function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** The part that the owner sees later, to tell keys apart: the kind, and three characters of the secret. (238 bits stay secret.) */
export function prefixOf(key: string): string {
  return key.slice(0, 12);
}

/** CRC32 (IEEE) of the secret alone, as GitHub computes it. */
export function checksum(secret: string): string {
  return toBase62(crc32(secret), CHECKSUM_LENGTH);
}

/** The CRC32 of an ASCII text. `node:zlib` has this as well, but a function would need a millisecond to load that module. */
function crc32(text: string): number {
  let crc = ~0;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return ~crc >>> 0;
}
