import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { required, type VariableName } from '../env.ts';
import { cached } from './cached.ts';
import { translateFailures } from './failures.ts';

/** A secret is a JSON object; who uses it knows its fields. */
export type Secret = Readonly<Record<string, unknown>>;

/** A rotated secret is noticed this late, so both its values must be good for as long. */
const KEPT_MS = 5 * 60_000;

const secretsManager = new SecretsManagerClient({
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 3_000, requestTimeout: 2_000, throwOnRequestTimeout: true },
});
translateFailures(secretsManager);

/**
 * The OAuth client of the login (see `shared/login/provider.ts`).
 * @throws Error when it is no JSON object, without a word of what it holds; ApiError `service_unavailable`.
 */
export const loginProviderSecret = cached(() => readSecret('LOGIN_PROVIDER_SECRET'), { keepMs: KEPT_MS });

/** What only our edge knows: `a`, and from the first rotation on `b`. @throws as {@link loginProviderSecret}. */
export const originSecret = cached(() => readSecret('ORIGIN_SECRET'), { keepMs: KEPT_MS });

async function readSecret(variable: VariableName): Promise<Secret> {
  const name = required(variable);
  const { SecretString } = await secretsManager.send(new GetSecretValueCommand({ SecretId: name }));
  const value = parse(SecretString ?? '');
  if (typeof value !== 'object' || value === null) throw new Error(`secret ${name} is not a JSON object`);
  return value as Secret;
}

/** JSON.parse quotes what it cannot read, and its message would end in a log. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
