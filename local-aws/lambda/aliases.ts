import type { Deployment, Resource } from '../template/deployment.ts';
import { readProperties } from '../template/read-properties.ts';

/** An alias of a function: a separate ARN that invokes one of the function's versions. */
export interface AliasConfig {
  readonly arn: string;
  /** The function whose code runs. A template has only one version of it: the function as the template describes it. */
  readonly functionArn: string;
  /** How CodeDeploy moves the alias. When it is absent, CloudFormation itself moves the alias to a new version at once. */
  readonly moved?: MovedBy;
}

/** How CodeDeploy moves an alias to a new version, as the alias's update policy says. */
export interface MovedBy {
  readonly application: string;
  readonly group: string;
  /** The names of the functions that CodeDeploy calls before and after it moves the traffic. */
  readonly hooks: { readonly before?: string; readonly after?: string };
}

/**
 * Reads `AWS::Lambda::Alias` and the versions behind them.
 * @throws Error for a part that the local AWS does not implement, such as split traffic. Also for an alias that points to no version of its
 *   function.
 */
export function readAliases(deployment: Deployment): AliasConfig[] {
  const functions = new Map(
    deployment.resources('AWS::Lambda::Function').map((fn) => [fn.ref, fn.attribute('Arn')] as const),
  );
  const functionArn = (resource: Resource, name: string) => {
    const arn = functions.get(name);
    if (arn === undefined) throw new Error(`${resource.logicalId}: there is no function ${name}`);
    return arn;
  };
  const versions = deployment.resources('AWS::Lambda::Version').map((version) => {
    const name = readProperties(version.logicalId, version.properties(), (take) => take<string>('FunctionName'), [
      'Description',
    ]);
    return { arn: functionArn(version, name), version: version.attribute('Version') };
  });
  return deployment.resources('AWS::Lambda::Alias').map((alias) => {
    const { name, version } = readProperties(
      alias.logicalId,
      alias.properties(),
      (take) => {
        take('Name');
        return { name: take<string>('FunctionName'), version: take<string>('FunctionVersion') };
      },
      ['Description'],
    );
    const arn = functionArn(alias, name);
    if (!versions.some((candidate) => candidate.arn === arn && candidate.version === version)) {
      throw new Error(`${alias.logicalId} points to no version of ${name}`);
    }
    return { arn: alias.ref, functionArn: arn, ...readUpdatePolicy(alias) };
  });
}

function readUpdatePolicy(alias: Resource): { moved?: MovedBy } {
  const policy = alias.updatePolicy();
  if (policy === undefined) return {};
  const where = `${alias.logicalId}.UpdatePolicy`;
  const update = readProperties(where, policy, (take) => take<Record<string, unknown>>('CodeDeployLambdaAliasUpdate'));
  return {
    moved: readProperties(where, update, (take) => {
      const [before, after] = [take('BeforeAllowTrafficHook', ''), take('AfterAllowTrafficHook', '')];
      return {
        application: take<string>('ApplicationName'),
        group: take<string>('DeploymentGroupName'),
        hooks: { ...(before && { before }), ...(after && { after }) },
      };
    }),
  };
}
