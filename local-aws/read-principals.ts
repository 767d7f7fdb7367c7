import { credentialsOf, type Principal } from './aws-front/principals.ts';
import { deploymentHelpers, type FunctionConfig, type WebFunctionConfig } from './lambda/function-config.ts';
import type { Deployment } from './template/deployment.ts';
import { readRoles } from './template/role-policies.ts';

/** The callers of AWS that the template describes: each function with the policies of its role, and each distribution of CloudFront. */
export function readPrincipals(
  deployment: Deployment,
  functions: readonly Pick<FunctionConfig | WebFunctionConfig, 'credentials' | 'roleArn'>[],
): Principal[] {
  const roles = new Map(readRoles(deployment).map((role) => [role.arn, role]));
  const helpers = deploymentHelpers(deployment).map((resource) => ({
    credentials: credentialsOf(resource.ref),
    roleArn: String(resource.properties().Role),
  }));
  const callers = [...functions, ...helpers].map(({ credentials, roleArn }) => {
    const role = roles.get(roleArn);
    if (!role) throw new Error(`there is no role ${roleArn}`);
    return { ...credentials, name: role.name, policies: role.policies };
  });
  const distributions = deployment.resources('AWS::CloudFront::Distribution').map(({ ref }) => ({
    ...credentialsOf(ref),
    name: ref,
    policies: [],
    service: 'cloudfront.amazonaws.com',
    sourceArn: `arn:aws:cloudfront::${deployment.account.accountId}:distribution/${ref}`,
  }));
  return [...callers, ...distributions];
}
