import { createHash, timingSafeEqual } from 'node:crypto';
import { originSecret, type Secret } from '../aws/secrets.ts';
import { type ApiEvent, header } from '../http/event.ts';

/** A stranger must not make us read the secret more often than this. */
const READ_AGAIN_MS = 60_000;

/**
 * True when the request came through our own edge, which alone knows the origin secret. The secret has two slots, so that
 * it can be rotated; a value in neither may be newer than what we read.
 */
export async function isFromOurEdge(event: ApiEvent): Promise<boolean> {
  const given = header(event, 'x-origin-secret');
  if (given === undefined) return false;
  const isKnown = ({ a, b }: Secret) => isSame(given, a) || isSame(given, b);
  return isKnown(await originSecret()) || isKnown(await originSecret({ maxAgeMs: READ_AGAIN_MS }));
}

/**
 * The address of the client. Our edge puts it in `x-viewer-address`, which counts beside the origin secret alone; whoever
 * calls the gateway without the edge is known to the gateway itself. `X-Forwarded-For` is never read: clients write it.
 */
export async function viewerAddress(event: ApiEvent): Promise<string> {
  const stated = header(event, 'x-viewer-address');
  if (stated !== undefined && (await isFromOurEdge(event))) return stated;
  return event.requestContext.identity.sourceIp;
}

/** Compares hashes, which are of one length, so that the time says nothing of either text. */
function isSame(given: string, secret: unknown): boolean {
  if (typeof secret !== 'string' || secret === '') return false;
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(secret));
}
