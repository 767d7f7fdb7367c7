import { randomBytes } from 'node:crypto';

/** A trace of its own, not sampled. Source: X-Ray Developer Guide, "Tracing header". */
export function newTraceId(): string {
  const seconds = Math.floor(Date.now() / 1_000).toString(16);
  return `Root=1-${seconds}-${randomBytes(12).toString('hex')};Parent=${randomBytes(8).toString('hex')};Sampled=0`;
}
