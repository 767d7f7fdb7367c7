export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/**
 * The credentials of a function's role, which Lambda sets as variables. In the bundles of functions this replaces the SDK's
 * `@aws-sdk/credential-provider-node` (infra/bundle). The SDK's provider looks for credentials in a dozen places, such as configuration
 * files, single sign-on and instance metadata. That is 170 kB of code, which no function needs.
 * Source: Lambda Developer Guide, "Defined runtime environment variables".
 * @returns a provider, which throws an Error when the variables are not set.
 */
export function defaultProvider(): () => Promise<Credentials> {
  return async () => {
    const found = environmentCredentials();
    if (!found) throw new Error('environment variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set');
    return found;
  };
}

export function environmentCredentials(): Credentials | undefined {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env;
  if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY) return undefined;
  return {
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN && { sessionToken: AWS_SESSION_TOKEN }),
  };
}
