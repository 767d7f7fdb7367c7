import type { Template, TemplateResource } from '../../local-aws/service.ts';

/**
 * Edits of the templates in memory: they remove what a stack might forget, lower numbers that are too large for a test, and give a table
 * its name.
 * A resource is identified by the start of its logical id, because CDK appends a hash. Each function throws an Error when
 * the templates do not contain exactly one such resource.
 */

export type Templates = Record<string, Template>;

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
}

/** Removes one action from a role, on the resources whose reference contains the text `on`. */
export function removeGrant(templates: Templates, role: string, action: string, on: string): void {
  const [, { Properties = {} }] = find(templates, 'AWS::IAM::Policy', `${role}DefaultPolicy`);
  const document = Properties.PolicyDocument as { Statement: Statement[] };
  let isFound = false;
  document.Statement = document.Statement.flatMap((statement) => {
    const [actions, resources] = [[statement.Action].flat(), [statement.Resource].flat()];
    const named = resources.filter((resource) => JSON.stringify(resource).includes(on));
    if (!actions.includes(action) || named.length === 0) return [statement];
    isFound = true;
    return [
      { ...statement, Resource: resources.filter((resource) => !named.includes(resource)) },
      { ...statement, Action: actions.filter((other) => other !== action), Resource: named },
    ].filter(({ Action, Resource }) => [Action].flat().length > 0 && Resource.length > 0);
  });
  if (!isFound) throw new Error(`${role} has no ${action} on ${on}`);
}

/** Removes an environment variable from a function. */
export function removeVariable(templates: Templates, fn: string, name: string): void {
  const [, { Properties = {} }] = find(templates, 'AWS::Lambda::Function', fn);
  const { Variables } = Properties.Environment as { Variables: Record<string, unknown> };
  if (!(name in Variables)) throw new Error(`${fn} has no ${name}`);
  delete Variables[name];
}

/** Removes a resource. */
export function removeResource(templates: Templates, type: string, start: string): void {
  const [logicalId] = find(templates, type, start);
  for (const { Resources } of Object.values(templates)) delete Resources[logicalId];
}

/** Lets Lambda run only one environment of the streaming server, so that a test can fill all places. */
export function limitStreamingEnvironments(templates: Templates): void {
  const [, endpoint] = find(templates, 'AWS::Lambda::WebFunctionEndpoint', 'UploadStream');
  const { ScalingConfig } = endpoint.Properties as { ScalingConfig: Record<string, unknown> };
  ScalingConfig.MaxEnvironments = 1;
}

/** Gives a table a physical name. After an import CloudFormation knows a table by such a name, although no template has it. */
export function nameTable(templates: Templates, table: string, name: string): void {
  const [, resource] = find(templates, 'AWS::DynamoDB::GlobalTable', table);
  (resource.Properties as Record<string, unknown>).TableName = name;
}

function find(templates: Templates, type: string, start: string): [logicalId: string, resource: TemplateResource] {
  const found = Object.values(templates).flatMap(({ Resources }) =>
    Object.entries(Resources).filter(([logicalId, { Type }]) => Type === type && logicalId.startsWith(start)),
  );
  const [only, ...others] = found;
  if (!only || others.length > 0) throw new Error(`${found.length} resources ${type} begin with ${start}`);
  return only;
}
