import type { Account } from '../aws-front/principals.ts';
import type { Assembly, Asset, Template, TemplateResource } from './assembly.ts';
import { type Identity, identify } from './identities.ts';
import { resolveIntrinsics, type Scope } from './intrinsics.ts';
import { checkResourceType } from './resource-types.ts';

/** Resolved properties of a resource, or a part of them. */
export type Properties = Readonly<Record<string, unknown>>;

export interface Resource {
  readonly stack: string;
  readonly logicalId: string;
  readonly type: string;
  readonly metadata: Properties;
  /** The value of `Ref`. */
  readonly ref: string;
  /** The value of `Fn::GetAtt`. */
  attribute(name: string): string;
  /** The properties with intrinsic functions, secrets and local addresses resolved. */
  properties(): Properties;
}

/** The resources that a deployment of the assembly would create. */
export interface Deployment {
  readonly account: Account;
  /** All resources of these types, in the order of the templates. */
  resources(...types: string[]): readonly Resource[];
  /** The value of the output of that name. @throws Error unless exactly one stack has it. */
  output(name: string): string;
  /** The path of the asset with this bucket and key. @throws Error when there is none. */
  assetPath(bucket: string, key: string): string;
  /** A text that was put together of resolved properties, such as a file, with local addresses in place of those of AWS. */
  localized(text: string): string;
}

export interface DeploymentOptions {
  readonly assembly: Assembly;
  readonly account: Account;
  /** Called when properties with a dynamic reference are read, not before. */
  readonly secretValue: SecretValue;
  /** Addresses may be added until properties are read. */
  readonly addresses: LocalAddresses;
}

/** @throws Error naming an unknown type of resource. Properties are checked when they are read. */
export function resolveDeployment(options: DeploymentOptions): Deployment {
  const { assembly, account } = options;
  const stacks = new Map<string, Stack>();
  /** The values of the SSM parameters that the stacks so far have made. */
  const ssmParameters = new Map<string, string>();
  const findStack = (name: string): Stack => {
    const stack = stacks.get(name);
    if (!stack) throw new Error(`there is no stack "${name}"`);
    return stack;
  };
  for (const [name, template] of Object.entries(assembly.templates)) {
    const parameters = readTemplateParameters(name, template, ssmParameters);
    const output: Scope['output'] = (of, outputName) => findStack(of).output(outputName);
    const stack = new Stack(name, template, { account, parameters, output });
    stacks.set(name, stack);
    for (const { ref, attributes } of stack.identitiesOf('AWS::SSM::Parameter')) {
      ssmParameters.set(ref, String(attributes.Value));
    }
  }
  const resources = [...stacks.values()].flatMap((stack) => stack.resources(options));
  return {
    account,
    resources: (...types) => resources.filter(({ type }) => types.includes(type)),
    output(name) {
      const [stack, ...others] = [...stacks.values()].filter((candidate) => candidate.hasOutput(name));
      if (!stack || others.length > 0) throw new Error(`exactly one stack must have the output "${name}"`);
      return localize(String(stack.output(name)), options);
    },
    assetPath: (bucket, key) => assetPath(assembly.assets, account, bucket, key),
    localized: (text) => useLocalAddresses(text, options.addresses),
  };
}

/** A parameter that `cdk bootstrap` makes. Every template names it, and only the rule that checks the version of CDK uses it. */
const OF_BOOTSTRAP = /^\/cdk-bootstrap\//;

/**
 * Reads the values of a template's parameters, which are the names of SSM parameters, as CloudFormation does at the beginning of a stack's
 * deployment.
 * @throws Error naming an SSM parameter that no stack before this one makes, or a parameter of another type.
 * Source: CloudFormation User Guide, "Systems Manager parameter types".
 */
function readTemplateParameters(
  stack: string,
  { Parameters = {} }: Template,
  ssmParameters: ReadonlyMap<string, string>,
): Readonly<Record<string, string>> {
  const values: Record<string, string> = {};
  for (const [logicalId, { Type, Default }] of Object.entries(Parameters)) {
    const name = String(Default);
    if (OF_BOOTSTRAP.test(name)) continue;
    if (Type !== 'AWS::SSM::Parameter::Value<String>')
      throw new Error(`${logicalId} in ${stack}: the local AWS does not implement parameters of type ${Type}`);
    const value = ssmParameters.get(name);
    if (value === undefined)
      throw new Error(`${stack} reads the SSM parameter "${name}", which no stack before it makes`);
    values[logicalId] = value;
  }
  return values;
}

function assetPath(assets: readonly Asset[], account: Account, bucket: string, key: string): string {
  const concrete = (text: string) =>
    text.replaceAll(`\${AWS::AccountId}`, account.accountId).replaceAll(`\${AWS::Region}`, account.region);
  const found = assets.find((asset) => asset.key === key && concrete(asset.bucket) === bucket);
  if (!found) throw new Error(`the assembly has no asset "${key}" for the bucket ${bucket}`);
  return found.path;
}

/** One template, whose references are resolved on demand. */
class Stack {
  readonly #name: string;
  readonly #template: Template;
  readonly #account: Account;
  readonly #scope: Scope;
  readonly #identities = new Map<string, Identity | 'being identified'>();

  constructor(
    name: string,
    template: Template,
    {
      account,
      parameters,
      output,
    }: {
      readonly account: Account;
      /** The values of the template's parameters. */
      readonly parameters: Readonly<Record<string, string>>;
      readonly output: Scope['output'];
    },
  ) {
    this.#name = name;
    this.#template = template;
    this.#account = account;
    this.#scope = {
      output,
      ref: (of) => this.#pseudoParameter(of) ?? parameters[of] ?? (template.Resources[of] && this.identity(of).ref),
      attribute: (logicalId, attribute) => this.attribute(logicalId, attribute),
    };
  }

  resources(options: DeploymentOptions): Resource[] {
    return Object.entries(this.#template.Resources).map(([logicalId, resource]) =>
      this.#resource(logicalId, resource, options),
    );
  }

  /** The identities of all resources of a type. */
  identitiesOf(type: string): Identity[] {
    const resources = Object.entries(this.#template.Resources);
    return resources.filter(([, { Type }]) => Type === type).map(([logicalId]) => this.identity(logicalId));
  }

  output(name: string): unknown {
    const output = this.#template.Outputs?.[name];
    if (!output) throw new Error(`the stack ${this.#name} has no output "${name}"`);
    return resolveIntrinsics(output.Value, this.#scope);
  }

  hasOutput(name: string): boolean {
    return Object.hasOwn(this.#template.Outputs ?? {}, name);
  }

  identity(logicalId: string): Identity {
    const known = this.#identities.get(logicalId);
    if (known === 'being identified') throw new Error(`${logicalId} in ${this.#name} refers to itself`);
    if (known) return known;
    const resource = this.#template.Resources[logicalId];
    if (!resource) throw new Error(`there is no resource "${logicalId}" in ${this.#name}`);
    this.#identities.set(logicalId, 'being identified');
    const identity = identify(resource.Type, {
      ...this.#account,
      stack: this.#name,
      logicalId,
      property: (name) => resolveIntrinsics(resource.Properties?.[name], this.#scope),
    });
    this.#identities.set(logicalId, identity);
    return identity;
  }

  attribute(logicalId: string, name: string): string {
    const value = this.identity(logicalId).attributes[name];
    if (value === undefined)
      throw new Error(`${logicalId} in ${this.#name} has no attribute "${name}" in the local AWS`);
    return value;
  }

  #resource(
    logicalId: string,
    { Type, Properties = {}, Metadata = {}, Condition }: TemplateResource,
    options: DeploymentOptions,
  ) {
    checkResourceType(Type, logicalId);
    if (Condition !== undefined) throw new Error(`${logicalId}: the local AWS does not implement Condition`);
    const stack = this;
    return {
      stack: this.#name,
      logicalId,
      type: Type,
      metadata: Metadata,
      get ref() {
        return stack.identity(logicalId).ref;
      },
      attribute: (name: string) => this.attribute(logicalId, name),
      properties: () =>
        mapTexts(resolveIntrinsics(Properties, this.#scope), (text) => localize(text, options)) as Properties,
    };
  }

  #pseudoParameter(name: string): string | undefined {
    const { region, accountId } = this.#account;
    const values: Record<string, string> = {
      'AWS::AccountId': accountId,
      'AWS::Partition': 'aws',
      'AWS::Region': region,
      'AWS::StackName': this.#name,
      'AWS::URLSuffix': 'amazonaws.com',
    };
    return values[name];
  }
}

function localize(text: string, { secretValue, addresses }: DeploymentOptions): string {
  return useLocalAddresses(resolveDynamicReferences(text, secretValue), addresses);
}

function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, mapTexts(item, change)]));
}

/** The value of a secret, as of `GetSecretValue`. @throws Error when there is no secret with that id. */
type SecretValue = (secretId: string) => string;

/** The id is a name, or an ARN, which contains colons. */
const REFERENCE =
  /\{\{resolve:(?:secretsmanager:(arn:(?:[^:}]*:){5}[^:}]+|[^:}]+):SecretString:([^:}]*)(?::{0,2})|[^}]*)\}\}/g;

/**
 * Replaces `{{resolve:secretsmanager:<id>:SecretString:<key>::}}` in a text by the secret, or by one key of it.
 * @throws Error for any other kind of dynamic reference.
 * Source: CloudFormation User Guide, "Get a secret or secret value from Secrets Manager".
 */
function resolveDynamicReferences(text: string, secretValue: SecretValue): string {
  return text.replace(REFERENCE, (reference, id?: string, key?: string) => {
    if (id === undefined || key === undefined) {
      throw new Error(`the local AWS does not know the dynamic reference ${reference}`);
    }
    const secret = secretValue(id);
    if (key === '') return secret;
    const value = (JSON.parse(secret) as Record<string, unknown>)[key];
    if (typeof value !== 'string') throw new Error(`the secret ${id} has no key "${key}"`);
    return value;
  });
}

/** The local addresses (`host:port`) of servers that have a domain name on AWS, by domain name. */
type LocalAddresses = ReadonlyMap<string, string>;

/**
 * Replaces `https://` and a domain name by `http://` and the address of the local server that stands in for it. There is no TLS in the
 * local AWS. A domain name alone, such as that of an origin, stays.
 */
function useLocalAddresses(text: string, addresses: LocalAddresses): string {
  return text.replace(/https:\/\/([a-z0-9.-]+)/g, (url, domain: string) => {
    const address = addresses.get(domain);
    return address === undefined ? url : `http://${address}`;
  });
}
