import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Principal } from './aws-front/principals.ts';

/** Whoever owns the account, and may do everything in it; with an access key of this start alone. */
export function operatorPrincipal(): Principal {
  const everything = { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: '*', Resource: '*' }] };
  return {
    accessKeyId: `AKIA${randomBytes(8).toString('hex').toUpperCase()}`,
    secretAccessKey: randomBytes(30).toString('base64url'),
    name: 'operator',
    policies: [everything],
  };
}

/**
 * Writes what AWS's own tools need in their environment to act as the operator of this service into `operator.json`, for
 * nobody but this user to read. It goes when the service ends; of one that was killed it stays, and opens nothing.
 */
export async function writeOperatorFile(
  dataDir: string,
  { operator, endpoint, region }: { operator: Principal; endpoint: string; region: string },
): Promise<{ close(): Promise<void> }> {
  const path = join(dataDir, 'operator.json');
  const environment = {
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: operator.accessKeyId,
    AWS_SECRET_ACCESS_KEY: operator.secretAccessKey,
  };
  // A mode is given to a new file alone, and one of a killed service may be there.
  await rm(path, { force: true });
  await writeFile(path, JSON.stringify(environment), { mode: 0o600, flag: 'wx' });
  return { close: () => rm(path, { force: true }) };
}
