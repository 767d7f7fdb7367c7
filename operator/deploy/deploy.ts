import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { promisify } from 'node:util';
import { commitCheckedOut } from '../../infra/settings/commit.ts';
import type { StageConfig } from '../../infra/settings/stage.ts';
import { stageOf } from '../../infra/stages/stages.ts';
import { commitOf, type Difference, describe, differences, readDeployed } from './deployed.ts';

/**
 * `STAGE=prod npm run deploy`: compares the file of the stage with what is deployed, shows what would change, asks, deploys, checks the
 * service, and prints the commands that go back (decision 0041). The command deploys settings that differ from those of the last deployment
 * only if an option allows this. So the deployment of an older checkout brings back neither older settings nor an empty table. If the
 * command dies before CDK deploys, nothing has changed. If it dies later, CloudFormation finishes the stack that is being deployed, and
 * another run deploys the rest.
 */

const OPTIONS = {
  '--first': 'the stage is not deployed yet',
  '--change-settings': 'deploy settings that differ from those deployed',
  '--change-tables': 'use other tables than those deployed',
  '--yes': 'do not ask; required without a terminal',
} as const;
type Option = keyof typeof OPTIONS;

const HELP = `Usage: STAGE=<stage> npm run deploy -- [options]

${Object.entries(OPTIONS)
  .map(([option, meaning]) => `  ${option}\n      ${meaning}`)
  .join('\n')}

Other options are passed to "cdk deploy".`;

const SMOKE = join(import.meta.dirname, '../smoke/run.ts');

const FAILED = `
The deployment failed. The stack at which it failed is as it was before. The stacks deployed before that one have the new version;
those after it still have the old one. The service works in that state. Read the first CREATE_FAILED or UPDATE_FAILED above,
fix its cause, and run this again. ("A deployment that fails" in docs/operate.md lists the cases in which you have to repair a stack.)`;

const NOT_CHECKED =
  '\nDeployed, but not checked: there is no API key in FILE_HOSTING_KEY ("Checking it" in docs/operate.md).';

const BROKEN = `
Deployed, but the service does not do what it should. "Checking it" in docs/operate.md says where to look. If people are
affected, go back first.`;

/** The message tells the operator why nothing is deployed. */
class Refusal extends Error {}

process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  if (argv.includes('--help')) {
    console.log(HELP);
    return 0;
  }
  const isGiven = (option: Option) => argv.includes(option);
  let [stage, before]: [StageConfig?, string?] = [];
  try {
    stage = stageOf(process.env);
    if (stage.name === 'local')
      throw new Refusal('The stage "local" is not deployed: "npm start" runs it on this machine.');
    await check(stage, isGiven);
    before = await commitOf(stage);
    if (!isGiven('--yes') && !process.stdin.isTTY)
      throw new Refusal('There is no terminal on which to confirm: add --yes.');
    if ((await run('cdk', ['diff', '--all'])) !== 0) throw new Refusal('"cdk diff" failed.');
    if (!isGiven('--yes')) await ask('Deploy these changes?');
  } catch (error) {
    console.error(`${(error as Error).message}\nNothing was deployed.`);
    return error instanceof Refusal ? 1 : 2;
  }
  const others = argv.filter((option) => !Object.hasOwn(OPTIONS, option));
  // The operator has seen the changes of permissions in the difference, and agreed.
  const code = await run('cdk', ['deploy', '--all', '--require-approval', 'never', ...others]);
  if (code !== 0) {
    console.error(FAILED);
    await unprotectFailedStacks(stage);
  }
  const outcome = code === 0 ? await checkService() : code;
  console.error(wayBack(stage.name, before));
  return outcome;
}

/** Runs the smoke check of the stage. @returns the exit code of the command. */
async function checkService(): Promise<number> {
  if (!process.env.FILE_HOSTING_KEY) {
    console.error(NOT_CHECKED);
    return 0;
  }
  if ((await run(process.execPath, [SMOKE])) === 0) return 0;
  console.error(BROKEN);
  return 3;
}

/**
 * Says how to go back to what was deployed before.
 * @param before  the commit that was deployed before; undefined when there was none.
 */
function wayBack(stage: string, before: string | undefined): string {
  if (before === undefined) return '\nThis was the first deployment: there is no earlier version to go back to.';
  const now = commitCheckedOut();
  if (before === now) {
    return `
The commit ${now} was deployed before as well. To go back to earlier settings, put them back into infra/stages/${stage}.ts, and run:
  STAGE=${stage} npm run deploy -- --change-settings`;
  }
  const lost = before.endsWith('-changed')
    ? '\nIt was deployed with changes that are in no commit. These commands do not bring those changes back.'
    : '';
  return `
To go back to the commit that was deployed before, with the present settings:
  git checkout ${nameOfCommit(before)}
  git checkout ${nameOfCommit(now)} -- infra/stages
  npm ci
  STAGE=${stage} npm run deploy${lost}`;
}

/** What git calls a commit that a deployment has noted. */
function nameOfCommit(noted: string): string {
  return noted === 'unknown' ? '<commit>' : noted.replace(/-changed$/, '');
}

async function run(program: string, args: readonly string[]): Promise<number> {
  const child = spawn(program, args, { stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

/** @throws Refusal unless the operator types "yes". */
async function ask(question: string): Promise<void> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Without an answer (Ctrl-D) the question would stay open.
  const noAnswer = once(terminal, 'close').then(() => '');
  const answer = await Promise.race([terminal.question(`${question} Type "yes": `), noAnswer]);
  terminal.close();
  if (answer.trim().toLowerCase() !== 'yes') throw new Refusal('The answer was not "yes".');
}

/**
 * @throws Refusal unless the settings are those of the last deployment, or the operator says that they may change.
 */
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
 * Refuses a deployment that would replace a restored table by a new, empty one. That happens when the file of the stage no longer names the
 * table, and `cdk import` has not put the table into the stack. No option permits such a deployment. A deployment that changes tables in
 * another way needs `--change-tables`.
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
function resourcesOfDataStack({ name }: StageConfig): Promise<string[]> {
  const stack = ['--stack-name', `FileHosting-${name}-Data`];
  return listByAws(['list-stack-resources', ...stack, '--query', 'StackResourceSummaries[].PhysicalResourceId']);
}

/**
 * Turns off the termination protection of the stacks that could not be created. The CDK protects a stack before it creates it, and deletes a
 * stack that could not be created before it tries again, which CloudFormation refuses for a protected stack.
 */
async function unprotectFailedStacks({ name, place, secondCopy }: StageConfig): Promise<void> {
  const failed = ['--stack-status-filter', 'ROLLBACK_COMPLETE', 'ROLLBACK_FAILED'];
  const query = ['--query', `StackSummaries[?starts_with(StackName, 'FileHosting-${name}-')].StackName`];
  try {
    for (const region of [place.region, secondCopy?.region].filter((each) => each !== undefined)) {
      for (const stack of await listByAws(['list-stacks', '--region', region, ...failed, ...query])) {
        const off = ['--region', region, '--stack-name', stack, '--no-enable-termination-protection'];
        await callAws(['update-termination-protection', ...off]);
        console.error(
          `${stack} could not be created. The next deployment removes what is left of it, and creates it again.`,
        );
      }
    }
  } catch (error) {
    console.error(
      `If a stack could not be created, turn off its protection before you deploy again: ${(error as Error).message}`,
    );
  }
}

async function listByAws(args: readonly string[]): Promise<string[]> {
  return JSON.parse(await callAws([...args, '--output', 'json'])) as string[];
}

/** Calls CloudFormation by the AWS CLI. @returns what the command prints. */
async function callAws(args: readonly string[]): Promise<string> {
  return (await promisify(execFile)('aws', ['cloudformation', ...args])).stdout;
}
