import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { required, type VariableName } from '../env.ts';
import { serviceUnavailable } from '../errors.ts';
import { parseLoginProvider } from '../login/provider.ts';
import { cached } from './cached.ts';
import { CALL_MS, callSettings } from './call-times.ts';
import { limitAndTranslate } from './failures.ts';

/** A secret is a JSON object. Its reader knows its fields. */
export type Secret = Readonly<Record<string, unknown>>;

/** A rotated secret is noticed after this time at the latest, so both its values must stay valid for this time. */
const KEPT_MS = 5 * 60_000;

const secretsManager = new SecretsManagerClient(callSettings(CALL_MS.database));
limitAndTranslate(secretsManager);

/**
 * Reads the OAuth client of the login. Until a process has read a valid secret, each request reads the secret again, so a correction is
 * noticed at once. After that, if the process reads a missing or wrong secret, it keeps the last valid one.
 * @throws ApiError `service_unavailable`. Its cause names the secret, but tells nothing of the secret's content.
 */
export const loginProvider = cached(() => readSecret('LOGIN_PROVIDER_SECRET', parseLoginProvider), { keepMs: KEPT_MS });

/**
 * Reads the secret that only our edge knows. Its fields `a` and `b` are the valid values; one may be absent. @throws like
 * {@link loginProvider}.
 */
export const originSecret = cached(() => readSecret('ORIGIN_SECRET', (secret) => secret), { keepMs: KEPT_MS });

async function readSecret<Value>(variable: VariableName, read: (secret: Secret) => Value): Promise<Value> {
  const name = required(variable);
  const { SecretString } = await secretsManager.send(new GetSecretValueCommand({ SecretId: name }));
  const value = parse(SecretString ?? '');
  try {
    if (typeof value !== 'object' || value === null) throw new Error('it is not a JSON object');
    return read(value as Secret);
  } catch (error) {
    throw serviceUnavailable({ cause: new Error(`secret ${name} is not filled in: ${(error as Error).message}`) });
  }
}

/** Parses JSON; undefined for any other text. The error of JSON.parse is dropped: it quotes the secret, and would end up in a log. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
