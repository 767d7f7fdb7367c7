import {
  type DeployedSettings,
  deployedSettings,
  parameterName,
  type StageConfig,
} from '../../infra/settings/stage.ts';

/** A setting that differs. A value is undefined where the setting is absent. */
export interface Difference {
  readonly setting: string;
  readonly deployed: string | undefined;
  readonly inFile: string | undefined;
}

/**
 * Reads the settings that were deployed last, with the credentials of the environment, from the Region of the stage.
 * @returns undefined when the stage is not deployed there.
 */
export async function readDeployed({ name, place }: StageConfig): Promise<DeployedSettings | undefined> {
  const text = await readParameterIn(place, parameterName(name, 'settings'));
  return text === undefined ? undefined : (JSON.parse(text) as DeployedSettings);
}

/** Reads the commit that was deployed last. @returns undefined before the first deployment. */
export async function commitOf({ name, place }: StageConfig): Promise<string | undefined> {
  return readParameterIn(place, parameterName(name, 'commit'));
}

/** Reads the address of API and dashboard of a deployed stage. */
export async function appUrlOf({ name, place }: StageConfig): Promise<string> {
  const url = await readParameterIn(place, parameterName(name, 'app-url'));
  if (url === undefined) throw new NotDeployed(`The stack FileHosting-${name}-Edge is not deployed.`);
  return url;
}

async function readParameterIn({ region }: StageConfig['place'], name: string): Promise<string | undefined> {
  process.env.AWS_REGION = region;
  // The AWS client in parameters.ts reads the Region when that module is loaded.
  const { readParameter } = await import('../../shared/aws/parameters.ts');
  return readParameter(name);
}

/** Compares the file of a stage with what is deployed. */
export function differences(stage: StageConfig, deployed: DeployedSettings): Difference[] {
  const inFile = deployedSettings(stage);
  const settings = [...new Set([...Object.keys(deployed), ...Object.keys(inFile)])].toSorted();
  return settings
    .map((setting) => ({ setting, deployed: deployed[setting], inFile: inFile[setting] }))
    .filter((difference) => difference.deployed !== difference.inFile);
}

/** Formats differences, one per line. */
export function describe(found: readonly Difference[]): string {
  return found
    .map(
      ({ setting, deployed, inFile }) =>
        `  ${setting}: deployed ${deployed ?? 'none'}, in the file ${inFile ?? 'none'}`,
    )
    .join('\n');
}

/** The stage is not deployed, or is deployed with other settings than those in its file. */
export class NotDeployed extends Error {}

/**
 * Requires that a stage is deployed as its file says. A program that works with a deployed stage calls this first.
 * @param matters  says for the name of a setting whether it must be as deployed.
 * @throws NotDeployed saying that the stage is not deployed, or which settings differ.
 */
export async function requireDeployed(
  stage: StageConfig,
  matters: (setting: string) => boolean = () => true,
): Promise<void> {
  const { name, place } = stage;
  const deployed = await readDeployed(stage);
  if (deployed === undefined) {
    throw new NotDeployed(
      `The stage "${name}" is not deployed in this AWS account in ${place.region}, or was deployed by an older version.`,
    );
  }
  const found = differences(stage, deployed).filter(({ setting }) => matters(setting));
  if (found.length === 0) return;
  throw new NotDeployed(
    `infra/stages/${name}.ts differs from what is deployed:\n${describe(found)}\nDeploy first, or check out the file that was deployed.`,
  );
}
