import type { Fields } from '../fields.ts';

/** The identity provider, and the name of our client there. Nothing of it is secret. */
export interface LoginProvider {
  readonly clientId: string;
  /** The provider's one canonical name, whatever spelling it writes into its tokens. */
  readonly issuer: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  /** The address of its public keys. */
  readonly jwksUri: string;
}

/** Google's addresses, from its discovery document. */
const GOOGLE = {
  issuer: 'https://accounts.google.com',
  authorization_endpoint: 'https://accounts.google.com/o/oauth2/v2/auth',
  token_endpoint: 'https://oauth2.googleapis.com/token',
  jwks_uri: 'https://www.googleapis.com/oauth2/v3/certs',
} as const;

/**
 * Reads the provider from the fields of the parameter that describes it. It has `client_id`, and either all of `issuer`,
 * `authorization_endpoint`, `token_endpoint` and `jwks_uri`, or none of them: then the provider is Google. (A mixture with Google's
 * addresses could send our client secret to the wrong provider.)
 * @throws Error naming the field that is wrong, without its value.
 */
export function parseLoginProvider(fields: Fields): LoginProvider {
  if (fields.client_secret !== undefined) throw new Error('it has a client_secret, which belongs into the secret');
  const isGoogle = Object.keys(GOOGLE).every((name) => fields[name] === undefined);
  const described = isGoogle ? { ...fields, ...GOOGLE } : fields;
  return {
    clientId: text(described, 'client_id'),
    issuer: address(described, 'issuer'),
    authorizationEndpoint: address(described, 'authorization_endpoint'),
    tokenEndpoint: address(described, 'token_endpoint'),
    jwksUri: address(described, 'jwks_uri'),
  };
}

/** Reads the secret by which our client proves itself to the provider. @throws like {@link parseLoginProvider}. */
export function parseClientSecret(fields: Fields): string {
  return text(fields, 'client_secret');
}

/** What the provider may write as `iss`. Google uses two spellings. Source: Google, "OpenID Connect", ID token payload. */
export function issuerSpellings({ issuer }: LoginProvider): string[] {
  return issuer === GOOGLE.issuer ? [issuer, 'accounts.google.com'] : [issuer];
}

export function isGoogle({ issuer }: LoginProvider): boolean {
  return issuer === GOOGLE.issuer;
}

function text(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string' || value === '') throw new Error(`it has no ${name}`);
  return value;
}

/** An address over TLS, or of a server on this machine. */
function address(fields: Fields, name: string): string {
  const value = text(fields, name);
  const url = URL.parse(value);
  const isLocal = url?.protocol === 'http:' && ['localhost', '127.0.0.1'].includes(url.hostname);
  if (url?.protocol !== 'https:' && !isLocal) throw new Error(`its ${name} is not an https address`);
  return value;
}
