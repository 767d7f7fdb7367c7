/** The identity provider, and our client there. */
export interface LoginProvider {
  readonly clientId: string;
  readonly clientSecret: string;
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
 * Reads the provider from the secret that describes it. The secret has `client_id` and `client_secret`. It also has either all of `issuer`,
 * `authorization_endpoint`, `token_endpoint` and `jwks_uri`, or none of them: then the provider is Google. (A mixture with Google's
 * addresses could send our client secret to the wrong provider.)
 * @throws Error naming the field that is wrong, without its value.
 */
export function parseLoginProvider(secret: Readonly<Record<string, unknown>>): LoginProvider {
  const isGoogle = Object.keys(GOOGLE).every((name) => secret[name] === undefined);
  const described = isGoogle ? { ...secret, ...GOOGLE } : secret;
  return {
    clientId: text(described, 'client_id'),
    clientSecret: text(described, 'client_secret'),
    issuer: address(described, 'issuer'),
    authorizationEndpoint: address(described, 'authorization_endpoint'),
    tokenEndpoint: address(described, 'token_endpoint'),
    jwksUri: address(described, 'jwks_uri'),
  };
}

/** What the provider may write as `iss`. Google uses two spellings. Source: Google, "OpenID Connect", ID token payload. */
export function issuerSpellings({ issuer }: LoginProvider): string[] {
  return issuer === GOOGLE.issuer ? [issuer, 'accounts.google.com'] : [issuer];
}

export function isGoogle({ issuer }: LoginProvider): boolean {
  return issuer === GOOGLE.issuer;
}

function text(secret: Readonly<Record<string, unknown>>, name: string): string {
  const value = secret[name];
  if (typeof value !== 'string' || value === '') throw new Error(`it has no ${name}`);
  return value;
}

/** An address over TLS, or of a server on this machine. */
function address(secret: Readonly<Record<string, unknown>>, name: string): string {
  const value = text(secret, name);
  const url = URL.parse(value);
  const isLocal = url?.protocol === 'http:' && ['localhost', '127.0.0.1'].includes(url.hostname);
  if (url?.protocol !== 'https:' && !isLocal) throw new Error(`its ${name} is not an https address`);
  return value;
}
