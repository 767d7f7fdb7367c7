import { setTimeout as pause } from 'node:timers/promises';
import {
  CodeDeployClient,
  type DeploymentInfo,
  GetDeploymentCommand,
  PutLifecycleEventHookExecutionStatusCommand,
} from '@aws-sdk/client-codedeploy';
import { CALL_MS, callSettings } from '../../shared/aws/call-times.ts';
import { required } from '../../shared/env.ts';
import { describeError, log } from '../../shared/log.ts';
import { CHECKS, NotJudged } from './checks.ts';
import { openService, WrongAnswer } from './client.ts';

type Verdict = 'Succeeded' | 'Failed';

/** The time between two rounds of a check. */
const PAUSE_MS = 10_000;

const codeDeploy = new CodeDeployClient(callSettings(CALL_MS.database));

/**
 * Checks a new version of another function. CodeDeploy calls this check when all requests to that function reach the new version. The check
 * sends such requests and reports the verdict: `Failed` takes the version back. If the check dies before it has reported, CodeDeploy waits
 * for an hour and then takes the version back. If the check runs twice, CodeDeploy refuses the second report.
 * @returns the verdict.
 */
export async function handler(event: {
  readonly DeploymentId: string;
  readonly LifecycleEventHookExecutionId: string;
}): Promise<Verdict> {
  const { DeploymentId: deploymentId, LifecycleEventHookExecutionId: lifecycleEventHookExecutionId } = event;
  const status = await judge(deploymentId);
  const report = { deploymentId, lifecycleEventHookExecutionId, status };
  await codeDeploy.send(new PutLifecycleEventHookExecutionStatusCommand(report));
  return status;
}

async function judge(deploymentId: string): Promise<Verdict> {
  let name: string | undefined;
  try {
    const { deploymentInfo = {} } = await codeDeploy.send(new GetDeploymentCommand({ deploymentId }));
    name = deploymentInfo.deploymentGroupName;
    const isChecked = !isRollback(deploymentInfo) && (await check(String(name)));
    if (isChecked) log('info', 'deployment checked', { function: name, deployment: deploymentId });
    return 'Succeeded';
  } catch (error) {
    log('error', 'the new version failed its check', {
      function: name,
      deployment: deploymentId,
      ...describeError(error),
    });
    return 'Failed';
  }
}

/** A move back to the old version is not checked: the check could fail because other functions have not gone back yet. */
function isRollback({ creator, rollbackInfo }: DeploymentInfo): boolean {
  return /rollback/i.test(creator ?? '') || rollbackInfo?.rollbackTriggeringDeploymentId !== undefined;
}

/**
 * @returns false when nothing was judged, because the canary has no key, or no round of the check could judge the function.
 * @throws Error when the function does not do what it should, or has no check.
 */
async function check(name: string): Promise<boolean> {
  const run = Object.entries(CHECKS).find(([function_]) => function_ === name)?.[1];
  if (!run) throw new Error(`there is no check of ${name}`);
  const service = await openService();
  if (service === undefined) {
    log('warn', 'deployment not checked: the canary has no key (npm run admin -- open-canary)', { function: name });
    return false;
  }
  // The check is repeated for some seconds, because a moved alias may still lead to the old version at first.
  const until = Date.now() + 1_000 * Number(required('CHECK_SECONDS'));
  let isJudged = false;
  for (;;) {
    try {
      await run(service);
      isJudged = true;
    } catch (error) {
      const isLimited = error instanceof WrongAnswer && error.status === 429;
      if (!(error instanceof NotJudged || isLimited)) throw error;
      log('warn', 'deployment not checked', { function: name, ...describeError(error) });
    }
    if (Date.now() >= until) return isJudged;
    await pause(PAUSE_MS);
  }
}
