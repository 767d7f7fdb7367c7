import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { readKeptFile, writeKeptFile } from './host/kept-file.ts';
import type { Deployment, Properties, Resource } from './template/deployment.ts';
import { readProperties } from './template/read-properties.ts';

/** The values of the template's secrets, by name. */
export type Secrets = Record<string, string>;

/**
 * Opens the secrets of the template. Values are generated once and stored, so that what was signed or encrypted before a
 * restart stays valid.
 * @param isFilledIn  true for a secret that gets its value later; it is left out.
 */
export async function openSecrets(
  deployment: Deployment,
  dataDir: string,
  isFilledIn: (secret: Resource) => boolean,
): Promise<Secrets> {
  const file = join(dataDir, 'secrets.json');
  const kept = await readKeptFile(
    file,
    parseSecrets,
    'restore it, or remove it for new secrets; what was signed or encrypted with the old ones is then no longer valid',
  );
  const secrets: Secrets = {};
  for (const resource of deployment.resources('AWS::SecretsManager::Secret')) {
    const name = secretName(resource.ref);
    if (!isFilledIn(resource)) secrets[name] = kept?.[name] ?? firstValue(resource);
  }
  await writeKeptFile(file, JSON.stringify({ ...kept, ...secrets }));
  return secrets;
}

/** @throws Error when the text is not an object of texts. */
function parseSecrets(text: string): Secrets {
  const secrets: unknown = JSON.parse(text);
  const isObject = typeof secrets === 'object' && secrets !== null && !Array.isArray(secrets);
  if (!isObject || Object.values(secrets).some((value) => typeof value !== 'string')) throw new Error('not secrets');
  return secrets as Secrets;
}

/** The name of a secret, from its ARN (which ends in a hyphen and six characters) or from the name itself. */
export function secretName(id: string): string {
  return /^arn:.*:secret:(.*)-.{6}$/.exec(id)?.[1] ?? id;
}

function firstValue(resource: Resource): string {
  const { logicalId } = resource;
  return readProperties(
    logicalId,
    resource.properties(),
    (take) => {
      const given = take<string>('SecretString', '');
      return given || generateSecret(logicalId, take('GenerateSecretString', {}));
    },
    ['Description', 'KmsKeyId', 'Name', 'Tags'],
  );
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';

const NUMBERS = '0123456789';

const PUNCTUATION = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';

const DEFAULT_LENGTH = 32;

/**
 * Generates a value by `GenerateSecretString`.
 * Source: CloudFormation, AWS::SecretsManager::Secret GenerateSecretString.
 */
export function generateSecret(logicalId: string, properties: Properties): string {
  return readProperties(`${logicalId}.GenerateSecretString`, properties, (take) => {
    const excluded = take<string>('ExcludeCharacters', '');
    const punctuation = take<boolean>('ExcludePunctuation', false) ? '' : PUNCTUATION;
    const characters = [...LETTERS, ...NUMBERS, ...punctuation].filter((character) => !excluded.includes(character));
    const length = Number(take('PasswordLength', DEFAULT_LENGTH));
    const password = Array.from({ length }, () => characters[randomInt(characters.length)]).join('');
    const key = take<string>('GenerateStringKey', '');
    const template = take<string>('SecretStringTemplate', '');
    return key === '' ? password : JSON.stringify({ ...JSON.parse(template || '{}'), [key]: password });
  });
}

/** The SSM parameters of the template: values by name. */
export function readParameters(deployment: Deployment): Record<string, string> {
  return Object.fromEntries(
    deployment.resources('AWS::SSM::Parameter').map((resource) => [
      resource.ref,
      readProperties(
        resource.logicalId,
        resource.properties(),
        (take) => {
          const type = take<string>('Type');
          if (type !== 'String')
            throw new Error(`${resource.logicalId}: the local AWS does not support parameters of type ${type}`);
          return take<string>('Value');
        },
        ['Description', 'Name', 'Tags'],
      ),
    ]),
  );
}
