import { createHash, timingSafeEqual } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { originSecret } from '../aws/secrets.ts';
import type { Fields } from '../fields.ts';
import { type ApiEvent, header } from '../http/request.ts';

/** The secret is read again at most this often, however many wrong secrets arrive. */
const READ_AGAIN_MS = 60_000;

/**
 * True when the request came through our own edge, which alone sends the origin secret. The secret has two slots, so that it can be
 * rotated. A value that is in neither slot may be newer than the secret that we have read, so we read the secret again.
 */
export async function isFromOurEdge(event: ApiEvent): Promise<boolean> {
  const given = header(event, 'x-origin-secret');
  if (given === undefined) return false;
  const isKnown = ({ a, b }: Fields) => isSame(given, a) || isSame(given, b);
  return isKnown(await originSecret()) || isKnown(await originSecret({ maxAgeMs: READ_AGAIN_MS }));
}

/**
 * The address of the client. Our edge sends it in `x-viewer-address`, which we believe only if the request also has the origin secret.
 * Without that secret, we take the address that the gateway itself saw. (The gateway refuses requests that lack its key, decision 0018.)
 * `X-Forwarded-For` is never read, because clients can write it.
 */
async function viewerAddress(event: ApiEvent): Promise<string> {
  const stated = header(event, 'x-viewer-address');
  if (stated !== undefined && (await isFromOurEdge(event))) return stated;
  return event.requestContext.identity.sourceIp;
}

/**
 * The subject under which the rate limiter counts a client without credentials: its IPv4 address. Our edge has no IPv6 address (decision
 * 0043). All other texts share one subject, so that no client can invent subjects.
 */
export async function viewerSubject(event: ApiEvent): Promise<string> {
  const address = await viewerAddress(event);
  return isIPv4(address) ? address : 'unknown';
}

/** Compares hashes, which all have the same length, so that the time of the comparison reveals nothing about the texts. */
function isSame(given: string, secret: unknown): boolean {
  if (typeof secret !== 'string' || secret === '') return false;
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(secret));
}
