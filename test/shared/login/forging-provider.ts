import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import type { LoginProvider } from '../../../shared/login/provider.ts';

const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
/** A published key of another type than the one that we accept. */
const elliptic = await generateKeyPair('ES256', { extractable: true });
export const ellipticKey = elliptic.privateKey;
const ellipticJwk = { ...(await exportJWK(elliptic.publicKey)), kid: 'elliptic', alg: 'ES256', use: 'sig' };
/** A key that signs tokens, but is not among the provider's public keys. */
export const strangeKey = (await generateKeyPair('RS256')).privateKey;
export const publicJwk = { ...(await exportJWK(publicKey)), kid: 'ours', alg: 'RS256', use: 'sig' };
export const publicKeys = [publicJwk, ellipticJwk];

export interface ForgingProvider {
  readonly provider: LoginProvider;
  /** The form and the headers of each request to the token endpoint. */
  readonly exchanges: { form: URLSearchParams; authorization: string | undefined }[];
  /** Its next answer, which may be a forged one. `wait` never answers. */
  answer: { status: number; body: unknown } | 'cut' | 'wait';
  keys: { status: number; body: unknown };
}

/**
 * A provider that gives the answers that a test wants, even answers that a real provider would never give. The signatures of its
 * tokens are real.
 */
export async function startForgingProvider(): Promise<ForgingProvider> {
  const server = createServer(async (request, response) => {
    if (request.url?.startsWith('/keys')) {
      response.writeHead(forging.keys.status, { 'Content-Type': 'application/json' });
      return void response.end(JSON.stringify(forging.keys.body));
    }
    const form = new URLSearchParams(await text(request));
    forging.exchanges.push({ form, authorization: request.headers.authorization });
    if (forging.answer === 'wait') return;
    if (forging.answer === 'cut') return void request.socket.destroy();
    response.writeHead(forging.answer.status, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(forging.answer.body));
  });
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  const address = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  const forging: ForgingProvider = {
    provider: {
      clientId: 'our-client',
      issuer: 'https://issuer.example',
      authorizationEndpoint: `${address}/authorize`,
      tokenEndpoint: `${address}/token`,
      jwksUri: `${address}/keys`,
    },
    exchanges: [],
    answer: { status: 200, body: {} },
    keys: { status: 200, body: { keys: publicKeys } },
  };
  return forging;
}

/** A token with these claims, signed by the provider's key unless another is given. */
export function sign(
  claims: JWTPayload,
  { key = privateKey, kid = 'ours', alg = 'RS256' }: { key?: CryptoKey; kid?: string; alg?: string } = {},
) {
  return new SignJWT(claims).setProtectedHeader({ alg, kid }).sign(key);
}
