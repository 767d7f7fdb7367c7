import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import type { StageConfig } from '../settings/stage.ts';
import { stageOf } from '../stages/stages.ts';
import { type Difference, describe, differences, readDeployed } from './deployed.ts';

/**
 * `STAGE=prod npm run deploy`: compares the file of the stage with what is deployed, then runs `cdk deploy --all`. It deploys no
 * other settings than those of the last deployment unless it is told to, so that the checkout of an older version does not bring
 * back older settings, or an empty table. If it dies before CDK starts, nothing has changed.
 */

const OPTIONS = {
  '--first': 'the stage is not deployed yet',
  '--change-settings': 'deploy settings that differ from those deployed',
  '--change-tables': 'use other tables than those deployed',
} as const;
type Option = keyof typeof OPTIONS;

/** The message tells the operator why nothing is deployed. */
class Refusal extends Error {}

process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  const isGiven = (option: Option) => argv.includes(option);
  try {
    const stage = stageOf(process.env);
    if (stage.name === 'local') throw new Refusal('The stage local runs on this machine, by "npm start".');
    await check(stage, isGiven);
  } catch (error) {
    console.error(`${(error as Error).message}\nNothing was deployed.`);
    return error instanceof Refusal ? 1 : 2;
  }
  const others = argv.filter((option) => !Object.hasOwn(OPTIONS, option));
  const child = spawn('cdk', ['deploy', '--all', ...others], { stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

/** @throws Refusal unless the settings are those of the last deployment, or the operator says that they may change. */
async function check(stage: StageConfig, isGiven: (option: Option) => boolean): Promise<void> {
  const deployed = await readDeployed(stage);
  if (deployed === undefined) {
    if (isGiven('--first')) return;
    throw new Refusal(
      `The stage ${stage.name} is not deployed in ${stage.place.region} with these credentials. For its first deployment: npm run deploy -- --first`,
    );
  }
  const found = differences(stage, deployed);
  const tables = found.filter(({ setting }) => setting.startsWith('restoredTables.'));
  const others = found.filter((difference) => !tables.includes(difference));
  await checkTables(stage, tables, isGiven('--change-tables'));
  if (others.length === 0 || isGiven('--change-settings')) return;
  throw new Refusal(
    `infra/stages/${stage.name}.ts differs from what is deployed:\n${describe(others)}\nTo deploy these changes: npm run deploy -- --change-settings`,
  );
}

/**
 * Without the name of a restored table the stack uses its own. That is the restored one after `cdk import`; otherwise the
 * stack would make a new, empty one, which no option allows.
 */
async function checkTables(stage: StageConfig, tables: readonly Difference[], mayChange: boolean): Promise<void> {
  const dropped = tables.filter(({ inFile }) => inFile === undefined);
  const imported = dropped.length === 0 ? [] : await resourcesOfDataStack(stage);
  const lost = dropped.filter(({ deployed }) => !imported.includes(String(deployed)));
  if (lost.length > 0) {
    throw new Refusal(
      `The service would get new, empty tables:\n${describe(lost)}\nWrite these names into infra/stages/${stage.name}.ts, or import the tables ("Restoring a table" in docs/operate.md).`,
    );
  }
  const changed = tables.filter((difference) => !dropped.includes(difference));
  if (changed.length === 0 || mayChange) return;
  throw new Refusal(
    `The service would use other tables:\n${describe(changed)}\nTo do that: npm run deploy -- --change-tables`,
  );
}

/** Asks the AWS CLI for the names of the resources that the data stack manages. */
async function resourcesOfDataStack({ name }: StageConfig): Promise<string[]> {
  const query = ['--query', 'StackResourceSummaries[].PhysicalResourceId', '--output', 'json'];
  const stack = ['--stack-name', `FileHosting-${name}-Data`];
  const { stdout } = await promisify(execFile)('aws', ['cloudformation', 'list-stack-resources', ...stack, ...query]);
  return JSON.parse(stdout) as string[];
}
