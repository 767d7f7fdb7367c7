import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { randomToken, toBase62 } from '../ids.ts';

/**
 * A key is `svc_live_` or `svc_test_`, a secret of 256 random bits in 43 letters and digits, and 6 more that are the
 * secret's CRC32: GitHub's format. The checksum proves nothing; it spares a database read for a mistyped key, and lets
 * scanners of published code recognise a key with next to no false alarms.
 * Source: github.blog, "Behind GitHub's new authentication token formats".
 */
const SECRET_BITS = 256;
const CHECKSUM_LENGTH = 6;
const FORMAT = /^svc_(?:live|test)_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;

/** `live` in the production stage, `test` in every other. */
export type KeyKind = 'live' | 'test';

/** A new key, which nobody has seen. */
export function generateKey(kind: KeyKind): string {
  const secret = randomToken(SECRET_BITS);
  return `svc_${kind}_${secret}${checksum(secret)}`;
}

/** True for what could be a key; whether it is one only its stored hash can say. */
export function isWellFormedKey(text: string): boolean {
  const [, secret, sum] = FORMAT.exec(text) ?? [];
  return secret !== undefined && checksum(secret) === sum;
}

/**
 * What is stored of a key, in hexadecimal. A plain hash is enough: 256 random bits cannot be guessed, however fast the
 * hash. Finding its row is the comparison; how long that takes says nothing of the key, only of its hash.
 */
export function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** The part that people see later, to tell keys apart: the kind and three characters (238 bits stay secret). */
export function prefixOf(key: string): string {
  return key.slice(0, 12);
}

/** CRC32 (IEEE) of the secret alone, as GitHub computes it. */
export function checksum(secret: string): string {
  return toBase62(crc32(secret), CHECKSUM_LENGTH);
}
