import { randomUUID } from 'node:crypto';
import { JsonError, type JsonService, jsonReply } from '../aws-front/json-protocol.ts';
import type { PolicyDocument } from '../aws-front/policy-document.ts';
import { createPolicyEvaluator } from '../aws-front/policy-evaluator.ts';
import { type Account, credentialsOf } from '../aws-front/principals.ts';
import type { AliasConfig, MovedBy } from '../lambda/aliases.ts';
import type { LambdaService } from '../lambda/lambda-service.ts';
import { type DeploymentGroup, groupArn } from './deployment-groups.ts';

/** The outcome of a deployment: `Succeeded` keeps the new version, `Failed` takes the alias back. */
type Verdict = 'Succeeded' | 'Failed';

/** Who began a deployment. Source: CodeDeploy API, DeploymentInfo. */
type Creator = 'user' | 'codeDeployRollback' | 'CloudFormationRollback';

export interface CodeDeploy {
  /** The operations of CodeDeploy's API that hooks call. */
  readonly service: JsonService;
  /**
   * Moves the alias of a deployment group, as CloudFormation does when the version changes. Here both versions are the same code, so
   * only the hooks can fail. A hook that reports no status fails the deployment: on AWS after an hour, here when the hook ends.
   * @throws Error when the group has no alias.
   */
  deploy(group: string, creator?: Creator): Promise<Verdict>;
}

interface Running {
  readonly id: string;
  readonly group: DeploymentGroup;
  readonly creator: Creator;
  readonly hookId: string;
  verdict?: Verdict;
}

export function createCodeDeploy(options: {
  readonly account: Account;
  readonly groups: readonly DeploymentGroup[];
  readonly aliases: readonly AliasConfig[];
  readonly lambda: LambdaService;
}): CodeDeploy {
  const { account, groups, aliases, lambda } = options;
  const evaluator = createPolicyEvaluator(account, new Map());
  const running = new Map<string, Running>();

  const runHook = async (hook: string, group: DeploymentGroup, creator: Creator): Promise<Verdict> => {
    const { arn: functionArn } = lambda.find(hook);
    const deployment: Running = { id: newDeploymentId(), group, creator, hookId: randomUUID() };
    const permission = { action: 'lambda:InvokeFunction', resource: functionArn };
    if (!(await evaluator.isAllowed(callerOf(group), permission))) return 'Failed';
    running.set(deployment.id, deployment);
    const event = { DeploymentId: deployment.id, LifecycleEventHookExecutionId: deployment.hookId };
    await lambda.invoke({ functionArn, payload: JSON.stringify(event) });
    running.delete(deployment.id);
    return deployment.verdict ?? 'Failed';
  };

  return {
    service: codeDeployService(running, account),
    async deploy(name, creator = 'user') {
      const moved = aliases.flatMap((alias) => (alias.moved?.group === name ? alias.moved : []))[0];
      const group = groups.find((candidate) => candidate.name === name);
      if (!moved || !group) throw new Error(`no alias is moved by a deployment group ${name}`);
      for (const hook of hooksOf(moved)) {
        if ((await runHook(hook, group, creator)) === 'Failed') return 'Failed';
      }
      return 'Succeeded';
    },
  };
}

const hooksOf = ({ hooks: { before, after } }: MovedBy) => [before, after].filter((hook) => hook !== undefined);

/** Source: CodeDeploy API, "GetDeployment": a `d-` and nine letters and digits. */
const newDeploymentId = () => `d-${randomUUID().replaceAll('-', '').slice(0, 9).toUpperCase()}`;

/** CodeDeploy invokes a hook with the role of the deployment group, so the hook needs no `AWS::Lambda::Permission`. */
function callerOf({ role }: DeploymentGroup): {
  name: string;
  policies: readonly PolicyDocument[];
  accessKeyId: string;
  secretAccessKey: string;
} {
  return { ...credentialsOf(role.name), name: role.name, policies: role.policies };
}

interface Input {
  readonly deploymentId?: unknown;
  readonly lifecycleEventHookExecutionId?: unknown;
  readonly status?: unknown;
}

/** The operations `GetDeployment`, and `PutLifecycleEventHookExecutionStatus` for the hook that is running. */
function codeDeployService(running: ReadonlyMap<string, Running>, account: Account): JsonService {
  const find = (id: string): Running => {
    const deployment = running.get(id);
    if (!deployment) throw new JsonError('DeploymentDoesNotExistException', `The deployment ${id} could not be found`);
    return deployment;
  };
  const getDeployment = (id: string) => {
    const { group, creator } = find(id);
    const deploymentInfo = {
      deploymentId: id,
      applicationName: group.application,
      deploymentGroupName: group.name,
      deploymentConfigName: group.config,
      creator,
      status: 'InProgress',
      computePlatform: 'Lambda',
    };
    return jsonReply(200, { deploymentInfo });
  };
  const putStatus = (id: string, hookId: string, status: Verdict) => {
    const deployment = find(id);
    if (deployment.hookId !== hookId) throw new JsonError('InvalidLifecycleEventHookExecutionIdException', '');
    if (deployment.verdict) throw new JsonError('LifecycleEventAlreadyCompletedException', '');
    deployment.verdict = status;
    return jsonReply(200, { lifecycleEventHookExecutionId: hookId });
  };
  return {
    name: 'codedeploy',
    targetPrefix: 'CodeDeploy_20141006.',
    interpret(operation, { deploymentId, lifecycleEventHookExecutionId: hookId, status, ...unknown }: Input) {
      if (typeof deploymentId !== 'string' || Object.keys(unknown).length > 0) return undefined;
      const group = running.get(deploymentId)?.group;
      const resource = group ? groupArn(group, account) : '*';
      const permissions = [{ action: `codedeploy:${operation}`, resource }];
      if (operation === 'GetDeployment' && hookId === undefined && status === undefined) {
        return { tables: [], permissions, perform: async () => getDeployment(deploymentId) };
      }
      const isVerdict = status === 'Succeeded' || status === 'Failed';
      if (operation !== 'PutLifecycleEventHookExecutionStatus' || typeof hookId !== 'string' || !isVerdict)
        return undefined;
      return { tables: [], permissions, perform: async () => putStatus(deploymentId, hookId, status) };
    },
  };
}
