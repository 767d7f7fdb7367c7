import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Principal } from './aws-front/principals.ts';
import { writeKeptFile } from './host/kept-file.ts';

/** The owner of the account, who may do everything. The access key is valid only until the service ends. */
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
 * Writes `operator.json`, readable only by this user: the environment variables with which AWS's own tools act as the operator
 * of this service. It is removed when the service ends. If the service is killed, the file stays, but its key is no longer valid.
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
  await writeKeptFile(path, JSON.stringify(environment));
  return { close: () => rm(path, { force: true }) };
}
