import { fromHttp } from '@aws-sdk/credential-provider-http';
import { type Credentials, environmentCredentials } from './environment-credentials.ts';

/** Credentials that expire within this time are not used any more. */
const RENEWED_BEFORE_MS = 5 * 60_000;

/**
 * The credentials of the role of a Web Function. They come from environment variables, as in `environment-credentials.ts`, or from an HTTP
 * address, where they are read again before they expire. Lambda knows both ways, and AWS does not document which of them Web Functions use.
 * @returns a provider, which throws an Error when there are neither credentials nor an address.
 */
export function defaultProvider(): () => Promise<Credentials> {
  let read: (Credentials & { readonly expiration?: Date }) | undefined;
  return async () => {
    const found = environmentCredentials();
    if (found) return found;
    const endsAt = read?.expiration?.getTime() ?? 0;
    if (!read || endsAt < Date.now() + RENEWED_BEFORE_MS) read = await fromHttp()();
    return read;
  };
}
