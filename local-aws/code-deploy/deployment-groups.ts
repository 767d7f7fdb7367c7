import type { Account } from '../aws-front/principals.ts';
import type { AliasConfig } from '../lambda/aliases.ts';
import type { Deployment, Resource } from '../template/deployment.ts';
import { readProperties } from '../template/read-properties.ts';
import { type Role, readRoles } from '../template/role-policies.ts';

/** How CodeDeploy moves an alias: the role that it uses, and how much traffic it moves at a time. */
export interface DeploymentGroup {
  readonly application: string;
  readonly name: string;
  readonly config: string;
  readonly role: Role;
}

export const groupArn = ({ application, name }: DeploymentGroup, { region, accountId }: Account): string =>
  `arn:aws:codedeploy:${region}:${accountId}:deploymentgroup:${application}/${name}`;

/**
 * Reads the deployment groups of CodeDeploy for Lambda.
 * @throws Error when a group names an alarm, a role or an application that is not in the templates. Also when an alias names a missing
 *   group.
 */
export function readDeploymentGroups(deployment: Deployment, aliases: readonly AliasConfig[]): DeploymentGroup[] {
  const applications = new Set(deployment.resources('AWS::CodeDeploy::Application').map(readApplication));
  const roles = new Map(readRoles(deployment).map((role) => [role.arn, role]));
  const groups = deployment.resources('AWS::CodeDeploy::DeploymentGroup').map((resource) => {
    const { roleArn, ...group } = readGroup(resource, deployment);
    const role = roles.get(roleArn);
    if (!role) throw new Error(`${resource.logicalId}: there is no role ${roleArn}`);
    if (!applications.has(group.application))
      throw new Error(`${resource.logicalId}: there is no application ${group.application}`);
    return { ...group, role };
  });
  for (const { arn, moved } of aliases) {
    if (!moved) continue;
    const isThere = groups.some(({ application, name }) => application === moved.application && name === moved.group);
    if (!isThere) throw new Error(`${arn}: there is no deployment group ${moved.application}/${moved.group}`);
  }
  return groups;
}

function readApplication(resource: Resource): string {
  return readProperties(
    resource.logicalId,
    resource.properties(),
    (take) => {
      const platform = take<string>('ComputePlatform');
      if (platform !== 'Lambda') throw new Error(`${resource.logicalId}: the local AWS does not support ${platform}`);
      return resource.ref;
    },
    ['ApplicationName', 'Tags'],
  );
}

function readGroup(resource: Resource, deployment: Deployment) {
  return readProperties(
    resource.logicalId,
    resource.properties(),
    (take) => {
      // For Lambda functions CodeDeploy has only this style.
      const style = take<{ DeploymentOption: string; DeploymentType: string }>('DeploymentStyle');
      if (style.DeploymentOption !== 'WITH_TRAFFIC_CONTROL' || style.DeploymentType !== 'BLUE_GREEN') {
        throw new Error(`${resource.logicalId}: the local AWS does not support ${JSON.stringify(style)}`);
      }
      requireAlarms(resource, take('AlarmConfiguration', {}), deployment);
      return {
        application: take<string>('ApplicationName'),
        name: resource.ref,
        config: take<string>('DeploymentConfigName'),
        roleArn: take<string>('ServiceRoleArn'),
      };
    },
    // The alarms have no effect here: the local AWS collects no metrics, so an alarm never rolls a deployment back.
    ['AutoRollbackConfiguration', 'DeploymentGroupName', 'Tags'],
  );
}

function requireAlarms(
  { logicalId }: Resource,
  { Alarms = [] }: { readonly Alarms?: readonly { readonly Name: string }[] },
  deployment: Deployment,
): void {
  const known = new Set(deployment.resources('AWS::CloudWatch::Alarm').map(({ ref }) => ref));
  const unknown = Alarms.find(({ Name }) => !known.has(Name));
  if (unknown) throw new Error(`${logicalId}: there is no alarm ${unknown.Name}`);
}
