import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { required, type VariableName } from '../env.ts';
import { type Fields, readFields } from '../fields.ts';
import { parseClientSecret } from '../login/provider.ts';
import { cached } from './cached.ts';
import { CALL_MS, callSettings } from './call-times.ts';
import { limitAndTranslate } from './failures.ts';

/** A rotated secret is noticed after this time at the latest, so both its values must stay valid for this time. */
const KEPT_MS = 5 * 60_000;

const secretsManager = new SecretsManagerClient(callSettings(CALL_MS.database));
limitAndTranslate(secretsManager);

/**
 * Reads the secret that only our edge knows. Its fields `a` and `b` are the valid values; one may be absent. @throws
 * ApiError `service_unavailable`.
 */
export const originSecret = cached(() => readSecret('ORIGIN_SECRET', (secret) => secret), { keepMs: KEPT_MS });

/**
 * Reads the secret of our client at the identity provider. It is apart from the client's id (parameters.ts), because only the function that
 * finishes a login needs it, and may read it. @throws ApiError `service_unavailable`.
 */
export const loginClientSecret = cached(() => readSecret('LOGIN_CLIENT_SECRET', parseClientSecret), {
  keepMs: KEPT_MS,
});

/** Reads a secret. @throws ApiError `service_unavailable`, whose cause names the secret, but tells nothing of its content. */
async function readSecret<Value>(variable: VariableName, read: (fields: Fields) => Value): Promise<Value> {
  const name = required(variable);
  const { SecretString } = await secretsManager.send(new GetSecretValueCommand({ SecretId: name }));
  return readFields(`secret ${name}`, SecretString, read);
}
