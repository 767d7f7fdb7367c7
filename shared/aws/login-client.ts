import { required } from '../env.ts';
import { parseClientSecret, parseLoginProvider } from '../login/provider.ts';
import { cached } from './cached.ts';
import { readFields } from './fields.ts';
import { readParameter } from './parameters.ts';
import { KEPT_MS, readSecret } from './secrets.ts';

/**
 * Reads the identity provider and the id of our client there. The secret of the client is apart from them, because only the function that
 * finishes a login needs it, and may read it.
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

/** Reads the secret of our client, like {@link loginProvider}. */
export const loginClientSecret = cached(() => readSecret('LOGIN_CLIENT_SECRET', parseClientSecret), {
  keepMs: KEPT_MS,
});
