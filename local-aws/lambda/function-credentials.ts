import { createHash } from 'node:crypto';

/** The access key of a function's role. */
export interface FunctionCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/**
 * An access key of its own for each function, by which the AWS front knows who calls. It follows from the name, so that a
 * URL signed before a restart is still good after it; it opens nothing but this machine's own loopback address.
 */
export function functionCredentials(name: string): FunctionCredentials {
  const digest = (purpose: string) => createHash('sha256').update(`${purpose}/${name}`).digest('hex');
  return {
    accessKeyId: `ASIA${digest('access key').slice(0, 16).toUpperCase()}`,
    secretAccessKey: digest('secret').slice(0, 40),
  };
}
