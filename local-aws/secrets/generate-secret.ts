import { randomInt } from 'node:crypto';
import type { Properties } from '../template/deployment.ts';
import { readProperties } from '../template/read-properties.ts';

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const NUMBERS = '0123456789';
const PUNCTUATION = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';
const DEFAULT_LENGTH = 32;

/**
 * A value as `GenerateSecretString` asks for it.
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
