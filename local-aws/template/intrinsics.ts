/** The values that the intrinsic functions of a template refer to. */
export interface Scope {
  /** The value of `Ref` and of `${Name}` in `Fn::Sub`; `undefined` when nothing has that name. */
  ref(name: string): unknown;
  /** @throws Error when there is no such resource or attribute. */
  attribute(logicalId: string, attribute: string): string;
  /** The output of a stack. @throws Error when there is none. */
  output(stack: string, name: string): unknown;
}

/** The value of `Ref: AWS::NoValue`: the property is treated as absent. */
const NO_VALUE = Symbol('AWS::NoValue');

type Arguments = readonly unknown[];

/**
 * Evaluates every intrinsic function in a value.
 * @throws Error naming an intrinsic function that is unknown, or that refers to something that does not exist.
 * Source: CloudFormation User Guide, "Intrinsic function reference".
 */
export function resolveIntrinsics(value: unknown, scope: Scope): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => resolveIntrinsics(item, scope)).filter((item) => item !== NO_VALUE);
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const [first] = entries;
  if (entries.length === 1 && first && isIntrinsic(first[0])) return evaluate(first[0], first[1], scope);
  return Object.fromEntries(
    entries
      .map(([name, item]) => [name, resolveIntrinsics(item, scope)] as const)
      .filter(([, item]) => item !== NO_VALUE),
  );
}

function isIntrinsic(name: string): boolean {
  return name === 'Ref' || name.startsWith('Fn::');
}

function evaluate(name: string, argument: unknown, scope: Scope): unknown {
  const resolved = () => resolveIntrinsics(argument, scope);
  switch (name) {
    case 'Ref':
      return ref(String(argument), scope);
    case 'Fn::GetAtt': {
      const [logicalId = '', attribute = ''] =
        typeof argument === 'string' ? argument.split(/\.(.*)/s) : (resolved() as string[]);
      return scope.attribute(logicalId, attribute);
    }
    case 'Fn::Join': {
      const [delimiter, items] = resolved() as [string, Arguments];
      return items.map((item) => text(item, name)).join(delimiter);
    }
    case 'Fn::Sub':
      return substitute(argument, scope);
    case 'Fn::Select': {
      const [index, items] = resolved() as [number | string, Arguments];
      const selected = items[Number(index)];
      if (selected === undefined) throw new Error(`Fn::Select has no item ${index} of ${items.length}`);
      return selected;
    }
    case 'Fn::Split': {
      const [delimiter, source] = resolved() as [string, unknown];
      return text(source, name).split(delimiter);
    }
    case 'Fn::GetStackOutput': {
      const { StackName, OutputName } = resolved() as { StackName: string; OutputName: string };
      return scope.output(StackName, OutputName);
    }
    default:
      throw new Error(`the local AWS does not know the intrinsic function ${name}`);
  }
}

function ref(name: string, scope: Scope): unknown {
  if (name === 'AWS::NoValue') return NO_VALUE;
  const value = scope.ref(name);
  if (value === undefined) throw new Error(`Ref: there is no "${name}"`);
  return value;
}

/** `Fn::Sub`: `${Name}`, `${LogicalId.Attribute}`, and `${!Literal}`, with its own variables, which take precedence. */
function substitute(argument: unknown, scope: Scope): string {
  const [template, variables] = (Array.isArray(argument) ? argument : [argument, {}]) as [
    string,
    Record<string, unknown>,
  ];
  return template.replace(/\$\{(!?)([^}]+)\}/g, (_all, literal: string, name: string) => {
    if (literal) return `\${${name}}`;
    if (Object.hasOwn(variables, name)) return text(resolveIntrinsics(variables[name], scope), 'Fn::Sub');
    const [logicalId = '', attribute] = name.split(/\.(.*)/s);
    return attribute === undefined ? text(ref(name, scope), 'Fn::Sub') : scope.attribute(logicalId, attribute);
  });
}

function text(value: unknown, where: string): string {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new Error(`${where} needs text, not ${JSON.stringify(value) ?? String(value)}`);
}
