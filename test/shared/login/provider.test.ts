import { describe, expect, test } from 'vitest';
import { accountIdOf } from '../../../shared/login/identity.ts';
import { isGoogle, issuerSpellings, parseClientSecret, parseLoginProvider } from '../../../shared/login/provider.ts';

const CLIENT = { client_id: 'id' };
const LOCAL = {
  issuer: 'http://127.0.0.1:9000',
  authorization_endpoint: 'http://127.0.0.1:9000/auth',
  token_endpoint: 'http://127.0.0.1:9000/token',
  jwks_uri: 'http://127.0.0.1:9000/jwks',
};

test('a parameter that has only a client means the provider Google', () => {
  const provider = parseLoginProvider(CLIENT);
  expect(provider).toEqual({
    clientId: 'id',
    issuer: 'https://accounts.google.com',
    authorizationEndpoint: 'https://accounts.google.com/o/oauth2/v2/auth',
    tokenEndpoint: 'https://oauth2.googleapis.com/token',
    jwksUri: 'https://www.googleapis.com/oauth2/v3/certs',
  });
  expect(issuerSpellings(provider)).toEqual(['https://accounts.google.com', 'accounts.google.com']);
  expect(isGoogle(provider)).toBe(true);
});

test('a provider other than Google is described completely, and its issuer has only one spelling', () => {
  const provider = parseLoginProvider({ ...CLIENT, ...LOCAL });
  expect(provider).toMatchObject({ tokenEndpoint: LOCAL.token_endpoint });
  expect(issuerSpellings(provider)).toEqual([LOCAL.issuer]);
  expect(isGoogle(provider)).toBe(false);
});

test('an endpoint without TLS may be on this machine, by its name or its address', () => {
  for (const jwks_uri of ['http://localhost:9000/jwks', 'http://127.0.0.1:9000/jwks']) {
    expect(parseLoginProvider({ ...CLIENT, ...LOCAL, jwks_uri })).toMatchObject({ jwksUri: jwks_uri });
  }
});

test('the secret of the client is a text', () => {
  expect(parseClientSecret({ client_secret: 'secret' })).toBe('secret');
  for (const wrong of [{}, { client_secret: '' }, { client_secret: 7 }]) {
    expect(() => parseClientSecret(wrong)).toThrow('it has no client_secret');
  }
});

describe('an incomplete or wrong parameter is refused with the name of the field, without its value:', () => {
  test.each([
    ['when it is empty', {}, 'client_id'],
    ['with the client’s secret', { ...CLIENT, client_secret: 'hunter2' }, 'client_secret'],
    ['with a number for text', { ...CLIENT, client_id: 5 }, 'client_id'],
    ...Object.keys(LOCAL).map(
      (name) =>
        [
          `with every endpoint but ${name}, which would be Google’s`,
          { ...CLIENT, ...LOCAL, [name]: undefined },
          name,
        ] as const,
    ),
    [
      'with an endpoint without TLS',
      { ...CLIENT, ...LOCAL, token_endpoint: 'http://hunter2.example/token' },
      'token_endpoint',
    ],
    ['with an endpoint that is not an address', { ...CLIENT, ...LOCAL, jwks_uri: 'hunter2' }, 'jwks_uri'],
  ] as const)('%s', (_, secret, field) => {
    const refusal = () => parseLoginProvider(secret);
    expect(refusal).toThrow(field);
    expect(refusal).not.toThrow('hunter2');
  });
});

test('an account id is the UUIDv5 of issuer and subject, and never changes', () => {
  expect(accountIdOf('https://accounts.google.com', '110169484474386276334')).toBe(
    '43ce82c2-6e34-5bed-b340-f6c47e677150',
  );
});
