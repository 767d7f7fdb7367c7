import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parameterName, type StageConfig, type StageName } from '../../infra/settings/stage.ts';
import { stageOf } from '../../infra/stages/stages.ts';
import { NotDeployed, requireDeployed } from '../deploy/deployed.ts';
import { Refusal, UsageError } from './commands/command.ts';

/**
 * Matches the settings that identify the deployment. All other settings may differ from what is deployed: an operator must be able to act
 * while a change of the stage's file is not deployed yet.
 */
const IDENTITY = /^(region|account|restoredTables\..*)$/;

/**
 * Sets the environment variables that the stores need. On AWS the credentials are the operator's own, and `STAGE` names the stage. On this
 * machine, the running service has written credentials to a file. The names of the tables and the bucket come from an SSM parameter of the
 * deployment.
 * @returns the stage.
 * @throws UsageError when no stage is named; Refusal when the stage is not deployed, or its file names another deployment.
 */
export async function enterEnvironment({ isLocal }: { isLocal: boolean }): Promise<StageName> {
  let stage: StageName = 'local';
  if (isLocal) await useLocalService(resolve(process.env.DATA_DIR || '.local'));
  else stage = await useDeployment(readStage());
  const { readParameter } = await import('../../shared/aws/parameters.ts');
  const environment = await readParameter(parameterName(stage, 'operator'));
  if (environment === undefined) {
    throw new Refusal(`The stage "${stage}" was deployed by another version: no parameter says where its tables are.`);
  }
  Object.assign(process.env, JSON.parse(environment));
  return stage;
}

function readStage(): StageConfig {
  try {
    const stage = stageOf(process.env);
    if (stage.name !== 'local') return stage;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  throw new UsageError('For the service that "npm start" runs, add --local.');
}

async function useDeployment(stage: StageConfig): Promise<StageName> {
  try {
    await requireDeployed(stage, (setting) => IDENTITY.test(setting));
  } catch (error) {
    throw error instanceof NotDeployed ? new Refusal(error.message) : error;
  }
  return stage.name;
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
