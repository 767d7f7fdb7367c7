import type { PolicyDocument } from '../aws-front/policy-document.ts';
import type { Deployment, Properties } from './deployment.ts';
import { readProperties } from './read-properties.ts';

export interface Role {
  readonly name: string;
  readonly arn: string;
  readonly policies: readonly PolicyDocument[];
}

/** Managed policies of AWS that only allow writing logs. The local AWS collects what functions and gateways write without asking IAM. */
const LOGS_ONLY =
  /^arn:aws:iam::aws:policy\/service-role\/(AWSLambdaBasicExecutionRole|AmazonAPIGatewayPushToCloudWatchLogs)$/;

/**
 * All roles, each with its inline and attached policies.
 * @throws Error naming a managed policy that allows more than writing logs, because only AWS has its text.
 */
export function readRoles(deployment: Deployment): Role[] {
  const attached = deployment.resources('AWS::IAM::Policy').map((resource) => ({
    roles: resource.properties().Roles as readonly string[],
    document: readDocument(resource.logicalId, resource.properties()),
  }));
  return deployment.resources('AWS::IAM::Role').map((resource) => {
    const name = resource.ref;
    return {
      name,
      arn: resource.attribute('Arn'),
      policies: [
        ...readInline(resource.logicalId, resource.properties()),
        ...attached.filter(({ roles }) => roles.includes(name)).map(({ document }) => document),
      ],
    };
  });
}

function readInline(logicalId: string, properties: Properties): PolicyDocument[] {
  return readProperties(
    logicalId,
    properties,
    (take) => {
      const managed = take<string[]>('ManagedPolicyArns', []).find((arn) => !LOGS_ONLY.test(arn));
      if (managed) throw new Error(`${logicalId} has the policy ${managed}, which is not in the templates`);
      return take<{ PolicyDocument: PolicyDocument }[]>('Policies', []).map(({ PolicyDocument }) => PolicyDocument);
    },
    // AssumeRolePolicyDocument: in the local AWS only the functions and deployment groups that have the role in the template use it.
    ['AssumeRolePolicyDocument', 'Description', 'MaxSessionDuration', 'Path', 'RoleName', 'Tags'],
  );
}

function readDocument(logicalId: string, properties: Properties): PolicyDocument {
  return readProperties(logicalId, properties, (take) => take<PolicyDocument>('PolicyDocument'), [
    'PolicyName',
    'Roles',
  ]);
}
