import { fromHttp } from '@aws-sdk/credential-provider-http';

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Credentials that expire within this time are not used any more. */
const RENEWED_BEFORE_MS = 5 * 60_000;

/**
 * The credentials of a function's role. In the bundles this replaces the SDK's `@aws-sdk/credential-provider-node` (infra/bundle), which
 * looks for credentials in a dozen places, such as configuration files, single sign-on and instance metadata. That is 170 kB of code, which
 * no function needs.
 *
 * Lambda sets the credentials of a function as variables. AWS does not document how a Web Function gets its credentials: from variables,
 * or from an HTTP address, where they have to be read again before they expire. So we look in both places.
 * Source: Lambda Developer Guide, "Defined runtime environment variables".
 * @returns a provider, which throws an Error when there are neither credentials nor an address.
 */
export function defaultProvider(): () => Promise<Credentials> {
  let read: (Credentials & { readonly expiration?: Date }) | undefined;
  return async () => {
    const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env;
    if (AWS_ACCESS_KEY_ID && AWS_SECRET_ACCESS_KEY) {
      return {
        accessKeyId: AWS_ACCESS_KEY_ID,
        secretAccessKey: AWS_SECRET_ACCESS_KEY,
        ...(AWS_SESSION_TOKEN && { sessionToken: AWS_SESSION_TOKEN }),
      };
    }
    const endsAt = read?.expiration?.getTime() ?? 0;
    if (!read || endsAt < Date.now() + RENEWED_BEFORE_MS) read = await fromHttp()();
    return read;
  };
}
