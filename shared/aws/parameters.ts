import { GetParameterCommand, ParameterNotFound, PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { required } from '../env.ts';
import { readFields } from '../fields.ts';
import { parseLoginProvider } from '../login/provider.ts';
import { cached } from './cached.ts';
import { CALL_MS, callSettings } from './call-times.ts';
import { limitAndTranslate } from './failures.ts';

const ssm = new SSMClient(callSettings(CALL_MS.database));
limitAndTranslate(ssm);

/** A change of a parameter is noticed after this time at the latest. */
const KEPT_MS = 5 * 60_000;

/**
 * Reads the origin of API and dashboard, such as `https://app.example.org`. It is known only after the functions are deployed, so it cannot
 * be in an environment variable.
 * @throws Error when the value of the parameter is not an address; ApiError `service_unavailable`.
 */
export const appUrl = cached(readAppUrl, { keepMs: KEPT_MS });

/**
 * Reads the identity provider and the id of our client there, which the operator has filled in.
 *
 * Until a process has read a valid value, each request reads it again, so a correction is noticed at once. After that, if the process reads
 * a missing or wrong value, it keeps the last valid one.
 * @throws ApiError `service_unavailable`. Its cause names the parameter, but tells nothing of its content.
 */
export const loginProvider = cached(readLoginProvider, { keepMs: KEPT_MS });

async function readLoginProvider() {
  const name = required('LOGIN_PROVIDER_PARAMETER');
  return readFields(`parameter ${name}`, await readParameter(name), parseLoginProvider);
}

async function readAppUrl(): Promise<string> {
  const name = required('APP_URL_PARAMETER');
  const url = URL.parse((await readParameter(name)) ?? '');
  if (!url || !['http:', 'https:'].includes(url.protocol)) throw new Error(`parameter ${name} is not an address`);
  return url.origin;
}

/** Reads the text of a parameter; undefined when there is none of that name. @throws ApiError `service_unavailable`. */
export function readParameter(name: string): Promise<string | undefined> {
  return read({ Name: name });
}

/** Like {@link readParameter}, for a parameter that is encrypted with the key that AWS manages for Systems Manager. */
export function readSecretParameter(name: string): Promise<string | undefined> {
  return read({ Name: name, WithDecryption: true });
}

/** Replaces the text of an encrypted parameter. Only an operator's credentials may do this. */
export async function putSecretParameter(name: string, value: string): Promise<void> {
  await ssm.send(new PutParameterCommand({ Name: name, Value: value, Type: 'SecureString', Overwrite: true }));
}

async function read(input: { Name: string; WithDecryption?: boolean }): Promise<string | undefined> {
  try {
    const { Parameter } = await ssm.send(new GetParameterCommand(input));
    return Parameter?.Value;
  } catch (error) {
    if (error instanceof ParameterNotFound) return undefined;
    throw error;
  }
}
