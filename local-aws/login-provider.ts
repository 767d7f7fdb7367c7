import { randomBytes } from 'node:crypto';
import type { ApiResource, RestApi } from './gateway/rest-api.ts';
import { type IdentityProvider, startIdentityProvider } from './identity-provider/start-identity-provider.ts';
import { type Secrets, secretName } from './read-secrets.ts';
import type { Deployment, Resource } from './template/deployment.ts';

/**
 * The stack marks the secret of the login's client, with the name of the parameter that has the rest of it. On AWS an operator fills in both,
 * locally this file does.
 */
export function isLoginClientSecret({ metadata }: Resource): boolean {
  return metadata['local:login-provider'] !== undefined;
}

/**
 * Starts the identity provider, and puts its addresses and a new client into the parameter and the secret.
 * @param options  `appUrl` is the address to which users return after a login. As redirect addresses the provider accepts `appUrl` with the
 *   path of each resource of the APIs that ends with `/callback`.
 */
export async function startLoginProvider(options: {
  readonly deployment: Deployment;
  readonly apis: readonly RestApi[];
  readonly appUrl: string;
  readonly port: number;
  readonly secrets: Secrets;
  readonly parameters: Record<string, string>;
}): Promise<IdentityProvider> {
  const { deployment, apis, appUrl, port, secrets, parameters } = options;
  const paths = apis.flatMap(({ root }) => pathsOf(root)).filter((path) => path.endsWith('/callback'));
  const clientId = 'local-client';
  const clientSecret = randomBytes(32).toString('base64url');
  const redirectUris = paths.map((path) => appUrl + path);
  const provider = await startIdentityProvider({ port, clientId, clientSecret, redirectUris });
  for (const resource of deployment.resources('AWS::SecretsManager::Secret').filter(isLoginClientSecret)) {
    secrets[secretName(resource.ref)] = JSON.stringify({ client_secret: clientSecret });
    parameters[String(resource.metadata['local:login-provider'])] = JSON.stringify({
      client_id: clientId,
      issuer: provider.issuer,
      authorization_endpoint: provider.authorizationEndpoint,
      token_endpoint: provider.tokenEndpoint,
      jwks_uri: provider.jwksUri,
    });
  }
  return provider;
}

function pathsOf({ path, children }: ApiResource): string[] {
  return [path, ...children.flatMap(pathsOf)];
}
