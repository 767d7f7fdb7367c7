import type { Account } from '../principals.ts';
import { JsonError, jsonReply } from './json-error.ts';
import type { JsonService } from './json-protocol.ts';

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
