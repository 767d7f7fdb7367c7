import { createHmac } from 'node:crypto';
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, importJWK, type JWTPayload, SignJWT } from 'jose';
import { describe, test } from 'vitest';
import { ellipticKey, publicJwk, sign, strangeKey } from './forging-provider.ts';
import { expectLoggedIn, expectRefused, honestClaims, logIn, SECONDS } from './logging-in.ts';

describe('an ID token is refused', () => {
  test.each<[string, JWTPayload]>([
    ['of another issuer', { iss: 'https://attacker.example' }],
    ['of an issuer whose name begins like ours', { iss: 'https://issuer.example.attacker.example' }],
    ['of Google, which is not the provider here', { iss: 'https://accounts.google.com' }],
    ['without an issuer', { iss: undefined }],
    ['that is for another client', { aud: 'other-client' }],
    ['without an audience', { aud: undefined }],
    [
      'that is for us and another client, and does not say to whom it was issued',
      { aud: ['our-client', 'other-client'] },
    ],
    ['that is for us, but was issued to another client', { azp: 'other-client' }],
    ['of another attempt', { nonce: 'x'.repeat(43) }],
    ['without a nonce', { nonce: undefined }],
    ['that has expired', { exp: SECONDS - 31 }],
    ['that never expires', { exp: undefined }],
    ['that was issued too long ago', { iat: SECONDS - 3_000, exp: SECONDS + 600 }],
    ['without a time', { iat: undefined }],
    ['of the future', { iat: SECONDS + 600 }],
    ['that is not valid yet', { nbf: SECONDS + 600 }],
    ['without a subject', { sub: undefined }],
    ['with an empty subject', { sub: '' }],
  ])('%s', async (_, claims) => {
    await expectRefused(await logIn({ claims }), 'login_failed');
  });

  test.each<[string, (nonce: string) => Promise<string>]>([
    ['signed by a key that is not the provider’s', (nonce) => sign(honestClaims(nonce), { key: strangeKey })],
    ['naming a key the provider does not have', (nonce) => sign(honestClaims(nonce), { kid: 'theirs' })],
    [
      'signed with a published key, but by another algorithm than RS256',
      (nonce) => sign(honestClaims(nonce), { key: ellipticKey, kid: 'elliptic', alg: 'ES256' }),
    ],
    ['without a signature (alg none)', async (nonce) => `${encode({ alg: 'none' })}.${encode(honestClaims(nonce))}.`],
    [
      'signed with the public key as if it were a shared secret (HS256)',
      async (nonce) => hmacToken(nonce, await publicPem()),
    ],
    ['signed with our client secret (HS256)', async (nonce) => hmacToken(nonce, 'our-secret')],
    [
      'whose claims were changed after signing',
      async (nonce) => {
        const [header, , signature] = (await sign(honestClaims(nonce))).split('.');
        return `${header}.${encode({ ...honestClaims(nonce), sub: 'somebody-else' })}.${signature}`;
      },
    ],
    ['whose signature is cut off', async (nonce) => (await sign(honestClaims(nonce))).replace(/[^.]+$/, '')],
    ['that brings its own key', async (nonce) => bringOwnKey(nonce)],
    ['that is not a token', async () => 'hunter2'],
    ['that is empty', async () => ''],
  ])('%s', async (_, token) => {
    await expectRefused(await logIn({ token }), 'login_failed');
  });

  test.each<[string, JWTPayload]>([
    ['is not verified', { email_verified: false }],
    ['has the text "true" instead of a boolean as its verification', { email_verified: 'true' }],
    ['has no verification', { email_verified: undefined }],
    ['is missing', { email: undefined }],
    ['is not an address', { email: 'ada' }],
    ['is a list', { email: ['ada@example.org'] }],
  ])('an ID token is refused when its e-mail address %s', async (_, claims) => {
    await expectRefused(await logIn({ claims }), 'email_not_verified');
  });
});

test('an ID token is accepted with a clock that is 25 seconds ahead or behind', async () => {
  expectLoggedIn(await logIn({ claims: { iat: SECONDS + 25 } }));
  expectLoggedIn(await logIn({ claims: { exp: SECONDS - 25 } }));
});

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
const publicPem = async () => exportSPKI((await importJWK(publicJwk, 'RS256', { extractable: true })) as CryptoKey);

function hmacToken(nonce: string, secret: string): string {
  const signed = `${encode({ alg: 'HS256', kid: 'ours' })}.${encode(honestClaims(nonce))}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

async function bringOwnKey(nonce: string): Promise<string> {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  const header = { alg: 'RS256', jwk: await exportJWK(publicKey), jku: 'https://attacker.example/keys' };
  return new SignJWT(honestClaims(nonce)).setProtectedHeader(header).sign(privateKey);
}
