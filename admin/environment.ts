import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { operatorParameterName, type StageName } from '../infra/settings/stage.ts';
import { Refusal } from './commands/command.ts';

/** The stage that `npm start` runs. */
const LOCAL_STAGE: StageName = 'dev';

/** Which deployment is meant. */
export type Target = { readonly isLocal: true } | { readonly isLocal: false; readonly stage: StageName };

/**
 * Puts everything into the environment that the stores need. On AWS the credentials are the operator's own; on this machine
 * those that the running service wrote. Where the tables are, both learn from the parameter of the deployment.
 * @throws Refusal when there is no such deployment.
 */
export async function enterEnvironment(target: Target): Promise<void> {
  if (target.isLocal) await useLocalService(resolve(process.env.DATA_DIR || '.local'));
  const { readParameter } = await import('../shared/aws/parameters.ts');
  const stage = target.isLocal ? LOCAL_STAGE : target.stage;
  const environment = await readParameter(operatorParameterName(stage));
  if (environment === undefined) {
    throw new Refusal(`In this AWS account and region the stage "${stage}" is not deployed, or by an older version.`);
  }
  Object.assign(process.env, JSON.parse(environment));
}

async function useLocalService(dataDir: string): Promise<void> {
  const path = join(dataDir, 'operator.json');
  const environment = await readFile(path, 'utf8').catch(() => {
    throw new Refusal(`The service is not running: ${path} cannot be read. Start it with "npm start".`);
  });
  // A profile or an endpoint of the operator's own must not lead to AWS what is meant for this machine.
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
  Object.assign(process.env, JSON.parse(environment));
}
