import { randomUUID } from 'node:crypto';
import { JsonError, type JsonService, jsonReply } from './json-protocol.ts';
import type { Account } from './principals.ts';

/** Secrets Manager ends every ARN with six random characters; locally they are always the same. */
const SUFFIX = 'LoCaL0';

export const secretArn = (name: string, { region, accountId }: Account): string =>
  `arn:aws:secretsmanager:${region}:${accountId}:secret:${name}-${SUFFIX}`;

export interface Secrets {
  /** Makes this the current value of the secret, as a rotation does. */
  set(name: string, value: string): void;
}

/** Secrets Manager as far as reading the current value of a secret. */
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

  const read = (name: string, input: { VersionId?: string; VersionStage?: string }) => {
    const secret = values.get(name);
    const { VersionId = secret?.versionId, VersionStage = 'AWSCURRENT' } = input;
    if (!secret || VersionId !== secret.versionId || VersionStage !== 'AWSCURRENT') {
      throw new JsonError('ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
    }
    return jsonReply(200, {
      ARN: secretArn(name, account),
      Name: name,
      VersionId,
      SecretString: secret.value,
      VersionStages: ['AWSCURRENT'],
      CreatedDate: secret.createdAt,
    });
  };

  const service: JsonService = {
    name: 'secretsmanager',
    targetPrefix: 'secretsmanager.',
    interpret(operation, input: { SecretId?: unknown; VersionId?: string; VersionStage?: string }) {
      if (operation !== 'GetSecretValue' || typeof input.SecretId !== 'string') return undefined;
      const name = secretName(input.SecretId);
      const resource = secretArn(name, account);
      const permissions = [{ action: 'secretsmanager:GetSecretValue', resource }];
      return { tables: [], permissions, perform: async () => read(name, input) };
    },
  };
  return { service, secrets };
}

/** A secret may be named by its name, its ARN, or its ARN without the suffix. */
function secretName(id: string): string {
  const name = id.replace(/^arn:.*:secret:/, '');
  return name.endsWith(`-${SUFFIX}`) ? name.slice(0, -SUFFIX.length - 1) : name;
}

export const parameterArn = (name: string, { region, accountId }: Account): string =>
  `arn:aws:ssm:${region}:${accountId}:parameter/${name.replace(/^\//, '')}`;

export interface Parameters {
  set(name: string, value: string): void;
}

/** SSM's Parameter Store as far as reading plain parameters by name. */
export function createParameterService(
  initial: Readonly<Record<string, string>>,
  account: Account,
): { service: JsonService; parameters: Parameters } {
  const values = new Map<string, { value: string; version: number; modifiedAt: number }>();
  const parameters: Parameters = {
    set(name, value) {
      const version = (values.get(name)?.version ?? 0) + 1;
      values.set(name, { value, version, modifiedAt: Date.now() / 1000 });
    },
  };
  for (const [name, value] of Object.entries(initial)) parameters.set(name, value);

  const describe = (name: string) => {
    const parameter = values.get(name);
    if (!parameter) return undefined;
    const { value: Value, version: Version, modifiedAt: LastModifiedDate } = parameter;
    const ARN = parameterArn(name, account);
    return { Name: name, Type: 'String', Value, Version, LastModifiedDate, ARN, DataType: 'text' };
  };

  const performs: Record<string, (names: string[]) => object> = {
    GetParameter([name = '']) {
      const Parameter = describe(name);
      if (!Parameter) throw new JsonError('ParameterNotFound', '');
      return { Parameter };
    },
    GetParameters: (names) => ({
      Parameters: names.flatMap((name) => describe(name) ?? []),
      InvalidParameters: names.filter((name) => !values.has(name)),
    }),
  };

  const service: JsonService = {
    name: 'ssm',
    targetPrefix: 'AmazonSSM.',
    interpret(operation, input: { Name?: unknown; Names?: unknown }) {
      const perform = performs[operation];
      const names: unknown = operation === 'GetParameter' ? [input.Name] : input.Names;
      if (!perform || !isListOfText(names)) return undefined;
      const permissions = names.map((name) => ({ action: `ssm:${operation}`, resource: parameterArn(name, account) }));
      return { tables: [], permissions, perform: async () => jsonReply(200, perform(names)) };
    },
  };
  return { service, parameters };
}

const isListOfText = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');
