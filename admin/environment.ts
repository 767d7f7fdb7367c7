import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { operatorParameterName, type StageName } from '../infra/settings/stage.ts';
import { Refusal } from './commands/command.ts';

/** The stage that `npm start` runs. */
const LOCAL_STAGE: StageName = 'dev';

/** The deployment that a command works on. */
export type Target = { readonly isLocal: true } | { readonly isLocal: false; readonly stage: StageName };

/**
 * Sets the environment variables that the stores need. On AWS the credentials are the operator's own; on this machine those
 * that the running service has written to a file. The names of tables and bucket come from the deployment's parameter.
 * @throws Refusal when there is no such deployment.
 */
export async function enterEnvironment(target: Target): Promise<void> {
  if (target.isLocal) await useLocalService(resolve(process.env.DATA_DIR || '.local'));
  const { readParameter } = await import('../shared/aws/parameters.ts');
  const stage = target.isLocal ? LOCAL_STAGE : target.stage;
  const environment = await readParameter(operatorParameterName(stage));
  if (environment === undefined) {
    throw new Refusal(`The stage "${stage}" is not deployed in this AWS account and Region.`);
  }
  Object.assign(process.env, JSON.parse(environment));
}

async function useLocalService(dataDir: string): Promise<void> {
  const path = join(dataDir, 'operator.json');
  const environment = await readFile(path, 'utf8').catch(() => {
    throw new Refusal(`The service is not running: ${path} cannot be read. Start it with "npm start".`);
  });
  // The operator's own AWS profile or endpoint must not send calls for this machine to AWS.
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
  Object.assign(process.env, JSON.parse(environment));
}
