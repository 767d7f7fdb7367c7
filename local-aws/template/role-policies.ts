import type { PolicyDocument } from '../aws-front/policy-document.ts';
import type { Deployment, Properties } from './deployment.ts';
import { readProperties } from './read-properties.ts';

export interface Role {
  readonly name: string;
  readonly arn: string;
  readonly policies: readonly PolicyDocument[];
}

/** Policies of AWS that allow nothing but to write logs, which go elsewhere here. */
const LOGS_ONLY =
  /^arn:aws:iam::aws:policy\/service-role\/(AWSLambdaBasicExecutionRole|AmazonAPIGatewayPushToCloudWatchLogs)$/;

/** Every role with all that is attached to it. @throws Error naming a policy that is not in the templates. */
export function readRoles(deployment: Deployment): Role[] {
  const managed = new Map(
    deployment
      .resources('AWS::IAM::ManagedPolicy')
      .map((resource) => [resource.ref, readDocument(resource.logicalId, resource.properties())]),
  );
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
        ...readOwn(resource.logicalId, resource.properties(), managed),
        ...attached.filter(({ roles }) => roles.includes(name)).map(({ document }) => document),
      ],
    };
  });
}

function readOwn(logicalId: string, properties: Properties, managed: ReadonlyMap<string, PolicyDocument>) {
  return readProperties(
    logicalId,
    properties,
    (take) => {
      const arns = take<string[]>('ManagedPolicyArns', []).filter((arn) => !LOGS_ONLY.test(arn));
      const inline = take<{ PolicyDocument: PolicyDocument }[]>('Policies', []);
      return [
        ...inline.map(({ PolicyDocument }) => PolicyDocument),
        ...arns.map((arn) => {
          const document = managed.get(arn);
          if (!document) throw new Error(`${logicalId} has the policy ${arn}, which is not in the templates`);
          return document;
        }),
      ];
    },
    // Who may assume it: here only whoever the template gives it to does.
    ['AssumeRolePolicyDocument', 'Description', 'MaxSessionDuration', 'Path', 'RoleName', 'Tags'],
  );
}

function readDocument(logicalId: string, properties: Properties): PolicyDocument {
  return readProperties(logicalId, properties, (take) => take<PolicyDocument>('PolicyDocument'), [
    'Description',
    'ManagedPolicyName',
    'Path',
    'PolicyName',
    'Roles',
  ]);
}
