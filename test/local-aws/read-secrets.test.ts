import { mkdtemp, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { generateSecret, openSecrets, secretName } from '../../local-aws/read-secrets.ts';
import { deploy } from './assembly-fixture.ts';

const dataDir = () => mkdtemp(join(tmpdir(), 'secrets-'));
const secret = (Properties: Record<string, unknown>, Metadata = {}) => ({
  Type: 'AWS::SecretsManager::Secret',
  Properties,
  Metadata,
});

describe('a generated secret', () => {
  test.each([
    ['has 32 characters by default', {}, /^[!-~]{32}$/],
    [
      'has the given length, and no punctuation when that is excluded',
      { PasswordLength: 43, ExcludePunctuation: true },
      /^[a-zA-Z0-9]{43}$/,
    ],
    [
      'has none of the excluded characters',
      { ExcludeCharacters: 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ', ExcludePunctuation: true },
      /^[0-9]{32}$/,
    ],
    [
      'is one key of the JSON that the template gives',
      {
        SecretStringTemplate: '{"user":"me"}',
        GenerateStringKey: 'current',
        PasswordLength: 4,
        ExcludePunctuation: true,
      },
      /^\{"user":"me","current":"[a-zA-Z0-9]{4}"\}$/,
    ],
  ])('%s', (_name, properties, pattern) => {
    expect(generateSecret('Secret', properties)).toMatch(pattern);
  });

  test('is different each time', () => {
    expect(generateSecret('Secret', {})).not.toBe(generateSecret('Secret', {}));
  });

  test('a generated secret with an unknown property is an error', () => {
    expect(() => generateSecret('Secret', { RequireEachIncludedType: true })).toThrow('RequireEachIncludedType');
  });
});

describe('the secrets of a template', () => {
  const never = () => false;

  test('are generated once and stored, readable only by their owner', async () => {
    const directory = await dataDir();
    const deployment = await deploy({ A: secret({ GenerateSecretString: {} }), B: secret({ SecretString: 'given' }) });
    const first = await openSecrets(deployment, directory, never);
    expect(Object.values(first)).toEqual([expect.stringMatching(/^.{32}$/), 'given']);
    expect(await openSecrets(deployment, directory, never)).toEqual(first);
    expect((await stat(join(directory, 'secrets.json'))).mode & 0o777).toBe(0o600);
  });

  test('leave out those that are filled in later', async () => {
    const deployment = await deploy({ A: secret({}, { mark: true }), B: secret({}) });
    const secrets = await openSecrets(deployment, await dataDir(), ({ metadata }) => metadata.mark === true);
    expect(Object.keys(secrets)).toEqual([expect.stringContaining('-B-')]);
  });

  test.each([
    ['its ARN', 'arn:aws:secretsmanager:eu-west-1:1:secret:a/b-C-LoCaL0'],
    ['the name itself', 'a/b-C'],
  ])('have a name that is read from %s', (_name, id) => {
    expect(secretName(id)).toBe('a/b-C');
  });
});
