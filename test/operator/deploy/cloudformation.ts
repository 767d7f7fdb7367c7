import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Template } from '../../../local-aws/service.ts';

/**
 * A server that answers the CDK CLI as AWS does, as far as the CLI needs it to update stacks whose assets are all there: a part of
 * CloudFormation, and constant answers of STS, S3 and SSM. Only the values of SSM parameters are resolved: CloudFormation reads them at each
 * update, and an update in which neither the template nor such a value differs has no changes. (CloudFormation User Guide, "Systems Manager
 * parameter types".)
 *
 * It is the only imitation of AWS beside `local-aws/`, which runs templates and keeps no stacks that are updated. A restored table must
 * reach every stack, and whether the CDK CLI deploys a stack whose template has not changed is decided between the CLI and CloudFormation.
 */
export interface CloudFormation {
  readonly endpoint: string;
  /** The stacks for which the CLI has asked for changes, and whether there were any. A difference that is only shown is not counted. */
  readonly updates: [stack: string, hadChanges: boolean][];
  /** The values of the parameters of a stack. */
  parametersOf(stack: string): Readonly<Record<string, string>>;
  close(): void;
}

interface Deployed {
  readonly template: Template;
  readonly isProtected: boolean;
}

interface Stack extends Deployed {
  readonly parameters: Readonly<Record<string, string>>;
}

type Request = Readonly<Record<string, string>>;

/**
 * @param deployed  the stacks as they are deployed, in their order.
 * @param next  the template that the CLI has uploaded for a stack.
 */
export async function startCloudFormation(
  deployed: Readonly<Record<string, Deployed>>,
  next: (stack: string) => Template,
): Promise<CloudFormation> {
  const ssm = new Map<string, string>();
  const stacks = new Map<string, Stack>();
  const changeSets = new Map<string, Stack>();
  const updates: [string, boolean][] = [];
  const resolve = (stack: Deployed): Stack => ({ ...stack, parameters: resolved(stack.template, ssm) });
  const deploy = (name: string, stack: Stack) => {
    stacks.set(name, stack);
    for (const [id, { Type, Properties }] of Object.entries(stack.template.Resources)) {
      if (Type !== 'AWS::SSM::Parameter') continue;
      const { Name = id, Value } = Properties ?? {};
      ssm.set(String(Name), typeof Value === 'string' ? Value : JSON.stringify(Value));
    }
  };
  for (const [name, stack] of Object.entries(deployed)) deploy(name, resolve(stack));

  const hasChanges = (name: string) =>
    JSON.stringify(changeSets.get(name)) !== JSON.stringify(stacks.get(name)) && changeSets.has(name);
  const actions: Record<string, (request: Request) => string> = {
    DescribeStacks: ({ StackName = '' }) => `<Stacks><member>${describe(nameOf(StackName), stacks)}</member></Stacks>`,
    GetTemplate: ({ StackName = '' }) =>
      `<TemplateBody>${escaped(JSON.stringify(stacks.get(nameOf(StackName))?.template))}</TemplateBody>`,
    CreateChangeSet({ StackName = '', ChangeSetName = '' }) {
      const name = nameOf(StackName);
      const stack = stacks.get(name) as Stack;
      changeSets.set(name, resolve({ ...stack, template: next(name) }));
      if (!ChangeSetName.startsWith('cdk-diff')) updates.push([name, hasChanges(name)]);
      return `<Id>${idOf(name)}</Id><StackId>${idOf(name)}</StackId>`;
    },
    DescribeChangeSet({ StackName = '', ChangeSetName = '' }) {
      const outcome = hasChanges(nameOf(StackName))
        ? '<Status>CREATE_COMPLETE</Status><ExecutionStatus>AVAILABLE</ExecutionStatus><Changes><member><Type>Resource</Type></member></Changes>'
        : "<Status>FAILED</Status><StatusReason>The submitted information didn't contain changes.</StatusReason><Changes/>";
      const id = idOf(nameOf(StackName));
      return `<ChangeSetId>${id}</ChangeSetId><ChangeSetName>${ChangeSetName}</ChangeSetName><StackId>${id}</StackId>${outcome}`;
    },
    ExecuteChangeSet({ StackName = '' }) {
      deploy(nameOf(StackName), changeSets.get(nameOf(StackName)) as Stack);
      return '';
    },
    DeleteChangeSet({ StackName = '' }) {
      changeSets.delete(nameOf(StackName));
      return '';
    },
    DescribeStackEvents: () => '<StackEvents/>',
    GetCallerIdentity: () => '<Account>123456789012</Account><Arn>arn:aws:iam::123456789012:user/operator</Arn>',
    AssumeRole: () =>
      '<Credentials><AccessKeyId>a</AccessKeyId><SecretAccessKey>b</SecretAccessKey><SessionToken>c</SessionToken><Expiration>2999-01-01T00:00:00Z</Expiration></Credentials>',
  };
  /** The code of the error for a request that names something that is not there. */
  function problemOf({ Action, StackName }: Request): string | undefined {
    if (StackName === undefined) return undefined;
    if (!stacks.has(nameOf(StackName))) return 'ValidationError';
    const isMissing = Action === 'DescribeChangeSet' && !changeSets.has(nameOf(StackName));
    return isMissing ? 'ChangeSetNotFound' : undefined;
  }
  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (request.headers['x-amz-target']) {
      const { Name } = JSON.parse(body) as { Name: string };
      const Value = Name.startsWith('/cdk-bootstrap/') ? '30' : ssm.get(Name);
      response.setHeader('content-type', 'application/x-amz-json-1.1');
      response.statusCode = Value === undefined ? 400 : 200;
      response.end(
        JSON.stringify(Value === undefined ? { __type: 'ParameterNotFound' } : { Parameter: { Name, Value } }),
      );
      return;
    }
    response.setHeader('content-type', 'text/xml');
    if (request.method === 'GET') {
      // The CLI asks whether the bucket has an asset.
      const key = new URLSearchParams(request.url?.split('?')[1]).get('prefix');
      response.end(`<ListBucketResult><KeyCount>1</KeyCount><Contents><Key>${key}</Key></Contents></ListBucketResult>`);
      return;
    }
    const fields = Object.fromEntries(new URLSearchParams(body));
    const action = String(fields.Action);
    const answer = actions[action];
    const problem = problemOf(fields);
    response.statusCode = answer && !problem ? 200 : 400;
    response.end(
      answer && !problem
        ? `<${action}Response><${action}Result>${answer(fields)}</${action}Result></${action}Response>`
        : `<ErrorResponse><Error><Code>${problem}</Code><Message>${fields.StackName} does not exist</Message></Error></ErrorResponse>`,
    );
  });
  return {
    endpoint: await listen(server),
    updates,
    parametersOf: (name) => stacks.get(name)?.parameters ?? {},
    close: () => server.close(),
  };
}

async function listen(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function resolved({ Parameters = {} }: Template, ssm: ReadonlyMap<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(Parameters).map(([id, { Default }]) => [id, ssm.get(String(Default)) ?? String(Default)]),
  );
}

const idOf = (name: string) => `arn:aws:cloudformation:eu-central-1:123456789012:stack/${name}/1`;

/** The name of a stack, from its name or its id. */
const nameOf = (id: string) => (id.startsWith('arn:') ? String(id.split('/')[1]) : id);

function describe(name: string, stacks: ReadonlyMap<string, Stack>): string {
  const { template, parameters, isProtected } = stacks.get(name) as Stack;
  const values = Object.entries(template.Parameters ?? {}).map(
    ([id, { Default }]) =>
      `<member><ParameterKey>${id}</ParameterKey><ParameterValue>${Default}</ParameterValue><ResolvedValue>${escaped(parameters[id] ?? '')}</ResolvedValue></member>`,
  );
  return `<StackId>${idOf(name)}</StackId><StackName>${name}</StackName><StackStatus>UPDATE_COMPLETE</StackStatus><CreationTime>2026-01-01T00:00:00Z</CreationTime><EnableTerminationProtection>${isProtected}</EnableTerminationProtection><Parameters>${values.join('')}</Parameters>`;
}

function escaped(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
