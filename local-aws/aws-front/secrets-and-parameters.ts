import { randomUUID } from 'node:crypto';
import { JsonError, type JsonService, jsonReply } from './json-protocol.ts';
import type { Account } from './principals.ts';

/** Secrets Manager ends every ARN with six random characters. Here they are always the same. */
const SUFFIX = 'LoCaL0';

export const secretArn = (name: string, { region, accountId }: Account): string =>
  `arn:aws:secretsmanager:${region}:${accountId}:secret:${name}-${SUFFIX}`;

export interface Secrets {
  /** Makes this the current value of the secret, as a rotation does. */
  set(name: string, value: string): void;
}

/** Secrets Manager, as far as `GetSecretValue` of the current value. */
export function createSecretsManagerService(
  initial: Readonly<Record<string, string>>,
  account: Account,
): { service: JsonService; secrets: Secrets } {
  const values = new Map<string, { value: string; versionId: string; createdAt: number }>();
  const secrets: Secrets = {
    set: (name, value) =>
      values.set(name, { value, versionId: randomUUID(), createdAt: Math.floor(Date.now() / 1000) }),
  };
  for (const [name, value] of Object.entries(initial)) secrets.set(name, value);

  const read = (name: string) => {
    const secret = values.get(name);
    if (!secret) throw new JsonError('ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
    return jsonReply(200, {
      ARN: secretArn(name, account),
      Name: name,
      VersionId: secret.versionId,
      SecretString: secret.value,
      VersionStages: ['AWSCURRENT'],
      CreatedDate: secret.createdAt,
    });
  };

  const service: JsonService = {
    name: 'secretsmanager',
    targetPrefix: 'secretsmanager.',
    interpret(operation, { SecretId, ...unknown }: { SecretId?: unknown }) {
      const isKnown = operation === 'GetSecretValue' && Object.keys(unknown).length === 0;
      if (!isKnown || typeof SecretId !== 'string') return undefined;
      const name = secretName(SecretId);
      const permissions = [{ action: 'secretsmanager:GetSecretValue', resource: secretArn(name, account) }];
      return { tables: [], permissions, perform: async () => read(name) };
    },
  };
  return { service, secrets };
}

/** A secret may be named by its name, its ARN, or its ARN without the suffix. */
function secretName(id: string): string {
  const name = id.replace(/^arn:.*:secret:/, '');
  return name.endsWith(`-${SUFFIX}`) ? name.slice(0, -SUFFIX.length - 1) : name;
}

interface ParameterInput {
  readonly Name?: unknown;
  readonly WithDecryption?: unknown;
  readonly Value?: unknown;
  readonly Type?: unknown;
  readonly Overwrite?: unknown;
}

export const parameterArn = (name: string, { region, accountId }: Account): string =>
  `arn:aws:ssm:${region}:${accountId}:parameter/${name.replace(/^\//, '')}`;

/**
 * A part of SSM's Parameter Store: `GetParameter`, and `PutParameter` of an encrypted parameter, which lasts until the service ends.
 * @param values  the values of the plain parameters, by name.
 */
export function createParameterService(values: Readonly<Record<string, string>>, account: Account): JsonService {
  const LastModifiedDate = Date.now() / 1000;
  const secret = new Map<string, string>();
  const read = (Name: string, isDecrypted: boolean) => {
    const encrypted = secret.get(Name);
    const Value = encrypted ?? (Object.hasOwn(values, Name) ? values[Name] : undefined);
    if (Value === undefined) throw new JsonError('ParameterNotFound', '');
    if (encrypted !== undefined && !isDecrypted) throw new Error(`${Name} is read without WithDecryption`);
    const ARN = parameterArn(Name, account);
    const Type = encrypted === undefined ? 'String' : 'SecureString';
    const Parameter = { Name, Type, Value, Version: 1, LastModifiedDate, ARN, DataType: 'text' };
    return jsonReply(200, { Parameter });
  };
  return {
    name: 'ssm',
    targetPrefix: 'AmazonSSM.',
    interpret(operation, { Name, WithDecryption = false, ...unknown }: ParameterInput) {
      if (typeof Name !== 'string' || typeof WithDecryption !== 'boolean') return undefined;
      const permissions = [{ action: `ssm:${operation}`, resource: parameterArn(Name, account) }];
      if (operation === 'GetParameter' && Object.keys(unknown).length === 0) {
        return { tables: [], permissions, perform: async () => read(Name, WithDecryption) };
      }
      const { Value, Type, Overwrite, ...others } = unknown as ParameterInput;
      const isKnown = operation === 'PutParameter' && Type === 'SecureString' && Overwrite === true;
      if (!isKnown || typeof Value !== 'string' || Object.keys(others).length > 0) return undefined;
      const perform = async () => {
        secret.set(Name, Value);
        return jsonReply(200, { Version: 1, Tier: 'Standard' });
      };
      return { tables: [], permissions, perform };
    },
  };
}
