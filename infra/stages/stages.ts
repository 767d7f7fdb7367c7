import { CONFIGURABLE_LIMITS, parseLimit } from '../../shared/contract/limits.ts';
import { readStage, type StageConfig, type StageName, type StageSettings } from '../settings/stage.ts';
import { dev } from './dev.ts';
import { local } from './local.ts';
import { prod } from './prod.ts';

export const STAGES: Readonly<Record<StageName, StageSettings>> = { prod, dev, local };

export type Environment = Readonly<Record<string, string | undefined>>;

/** Matches the names of our limits and allow-lists, and names that are nearly the same. */
const LIKE_A_SETTING = /^(ALLOWED_EMAIL|FILE_COUNT|MAX_UPLOAD|RATE_LIMIT|STORAGE_LIMIT|UPLOAD_BYTES)/i;

/**
 * Reads the stage that the variable `STAGE` names. Only the file of the stage says what is deployed. So a limit in the environment is an
 * error: whoever set it expects an effect. Only the stage `local` takes its limits from the environment.
 * @throws Error when no stage is named, when the environment has a setting or another Region, or when a setting is invalid.
 */
export function stageOf(environment: Environment): StageConfig {
  const name = stageNameOf(environment);
  if (name === 'local') return localStage(environment);
  const misplaced = Object.keys(environment).find((variable) => LIKE_A_SETTING.test(variable));
  if (misplaced !== undefined) {
    throw new Error(`the environment has ${misplaced}, but the settings of this stage are in infra/stages/${name}.ts`);
  }
  const stage = readStage(name, STAGES[name]);
  const region = environment.AWS_REGION;
  if (region && region !== stage.place.region) {
    throw new Error(
      `AWS_REGION is ${region}, but the stage ${name} is in ${stage.place.region} (infra/stages/${name}.ts)`,
    );
  }
  return stage;
}

function stageNameOf({ STAGE }: Environment): StageName {
  const names = Object.keys(STAGES) as StageName[];
  const name = names.find((candidate) => candidate === STAGE);
  if (name !== undefined) return name;
  const problem = STAGE ? `there is no stage "${STAGE}"` : 'no stage is named';
  throw new Error(`${problem}: set STAGE to ${names.join(', ')}, the name of a file in infra/stages`);
}

/**
 * Reads the stage `local`, with the limits from environment variables.
 * @throws Error naming a limit that is out of bounds, or a variable that looks like a limit but is none.
 */
export function localStage(environment: Environment): StageConfig {
  const known = Object.keys(CONFIGURABLE_LIMITS);
  const unknown = Object.keys(environment).find((name) => LIKE_A_SETTING.test(name) && !known.includes(name));
  if (unknown !== undefined) {
    throw new Error(
      `the environment has ${unknown}, which is not a limit of this service; those are ${known.join(', ')}`,
    );
  }
  const given = (Object.keys(CONFIGURABLE_LIMITS) as (keyof typeof CONFIGURABLE_LIMITS)[]).filter(
    (name) => environment[name],
  );
  const limits = Object.fromEntries(given.map((name) => [name, parseLimit(name, environment[name])]));
  return readStage('local', { ...local, limits });
}
