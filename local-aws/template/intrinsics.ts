/** What the intrinsic functions of a template refer to. */
export interface Scope {
  /** The value of `Ref` and of `Fn::Sub`'s `${Name}`; `undefined` when there is nothing of that name. */
  ref(name: string): unknown;
  /** @throws Error when there is no such resource or attribute. */
  attribute(logicalId: string, attribute: string): string;
  /** An output exported under this name by any stack. @throws Error when none is. */
  exported(name: string): unknown;
  output(stack: string, name: string): unknown;
  condition(name: string): boolean;
}

/** Stands where `Ref: AWS::NoValue` stood: the property is as if it were not there. */
const NO_VALUE = Symbol('AWS::NoValue');

type Arguments = readonly unknown[];

/**
 * The value with every intrinsic function carried out.
 * @throws Error naming an intrinsic function that is not known here, or what it refers to and is not there.
 * Source: CloudFormation User Guide, "Intrinsic function reference".
 */
export function resolveIntrinsics(value: unknown, scope: Scope): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => resolveIntrinsics(item, scope)).filter((item) => item !== NO_VALUE);
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const [first] = entries;
  if (entries.length === 1 && first && isIntrinsic(first[0])) return carryOut(first[0], first[1], scope);
  return Object.fromEntries(
    entries
      .map(([name, item]) => [name, resolveIntrinsics(item, scope)] as const)
      .filter(([, item]) => item !== NO_VALUE),
  );
}

/** Whether a condition of a template holds; conditions have functions of their own. */
export function evaluateCondition(condition: unknown, scope: Scope): boolean {
  const [name, argument] = Object.entries(condition as object)[0] ?? ['', undefined];
  const operands = (argument ?? []) as Arguments;
  switch (name) {
    case 'Condition':
      return scope.condition(String(argument));
    case 'Fn::Equals':
      return resolveIntrinsics(operands[0], scope) === resolveIntrinsics(operands[1], scope);
    case 'Fn::And':
      return operands.every((operand) => evaluateCondition(operand, scope));
    case 'Fn::Or':
      return operands.some((operand) => evaluateCondition(operand, scope));
    case 'Fn::Not':
      return !evaluateCondition(operands[0], scope);
    default:
      throw new Error(`the local environment does not know ${name} in a condition`);
  }
}

function isIntrinsic(name: string): boolean {
  return name === 'Ref' || name.startsWith('Fn::');
}

function carryOut(name: string, argument: unknown, scope: Scope): unknown {
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
    case 'Fn::If': {
      const [condition, then, otherwise] = argument as [string, unknown, unknown];
      return resolveIntrinsics(scope.condition(condition) ? then : otherwise, scope);
    }
    case 'Fn::ImportValue':
      return scope.exported(text(resolved(), name));
    case 'Fn::GetStackOutput': {
      const { StackName, OutputName } = resolved() as { StackName: string; OutputName: string };
      return scope.output(StackName, OutputName);
    }
    default:
      throw new Error(`the local environment does not know the intrinsic function ${name}`);
  }
}

function ref(name: string, scope: Scope): unknown {
  if (name === 'AWS::NoValue') return NO_VALUE;
  const value = scope.ref(name);
  if (value === undefined) throw new Error(`Ref: there is no "${name}"`);
  return value;
}

/** `Fn::Sub`: `${Name}`, `${LogicalId.Attribute}`, and `${!Literal}`, with variables of its own that go first. */
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
