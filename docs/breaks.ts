/** The parts of an OpenAPI document that are compared. */
interface Part {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly deprecated?: boolean;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Part>>;
  readonly items?: Part;
  readonly additionalProperties?: Part;
  readonly anyOf?: readonly Part[];
  readonly schema?: Part;
  readonly examples?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, Part>>;
  readonly content?: Readonly<Record<string, Part>>;
}

interface Operation {
  readonly operationId: string;
  readonly deprecated?: boolean;
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly parameters: readonly (Part & { readonly name: string; readonly in: string; readonly required?: boolean })[];
  readonly requestBody?: Part;
  readonly responses: Readonly<Record<string, Part>>;
}

interface Documented {
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** What a document says, as sentences. Each has a parent: the sentence without which it says nothing. */
interface Surface {
  /** What clients may rely on, with the parent. */
  readonly promises: Map<string, string>;
  /** What clients must do, with the parent and how strict the demand is. */
  readonly demands: Map<string, { readonly parent: string; readonly strictness: number }>;
}

/** The bounds of a request, and whether a higher number is stricter. */
const BOUNDS = { minimum: 1, minLength: 1, minItems: 1, maximum: -1, maxLength: -1, maxItems: -1 } as const;

/**
 * Compares a document with the released one.
 * @returns a sentence for each change that may break a client, unless the changelog names it, in a code span above the heading of the
 *   released version. There `*` stands for any text, for a change of many routes.
 */
export function unnamedBreaks(released: object, document: object, changelog: string): string[] {
  const { version } = (released as Documented).info;
  const [above = '', below] = changelog.split(`\n## ${version}\n`);
  if (below === undefined) return [`the changelog has no heading ${version}`];
  const named = [...above.matchAll(/`((?:no longer|now): [^`]+)`/g)].map(
    ([, sentence = '']) => new RegExp(`^${sentence.split('*').map(RegExp.escape).join('.*')}$`),
  );
  return breaks(surfaceOf(released as Documented), surfaceOf(document as Documented)).filter(
    (one) => !named.some((sentence) => sentence.test(one)),
  );
}

/** What disappears with its parent is not a break of its own, and neither is a demand on what is new. */
function breaks(before: Surface, now: Surface): string[] {
  const lost = [...before.promises].filter(
    ([promise, parent]) => !now.promises.has(promise) && (parent === '' || now.promises.has(parent)),
  );
  const stricter = [...now.demands].filter(
    ([demand, { parent, strictness }]) =>
      before.promises.has(parent) && strictness > (before.demands.get(demand)?.strictness ?? -Infinity),
  );
  return [...lost.map(([promise]) => `no longer: ${promise}`), ...stricter.map(([demand]) => `now: ${demand}`)];
}

function surfaceOf(document: Documented): Surface {
  const promises = new Map<string, string>();
  const demands: Surface['demands'] = new Map();

  /** @returns the promise. The first parent of a schema that several operations share stands for all. */
  function promise(sentence: string, parent: string): string {
    if (!promises.has(sentence)) promises.set(sentence, parent);
    return sentence;
  }

  function demand(sentence: string, parent: string, strictness = 0): void {
    demands.set(sentence, { parent, strictness });
  }

  function resolved(part: Part): Part {
    const at = part.$ref?.slice('#/'.length).split('/');
    const inside = (whole: unknown, name: string) => (whole as Readonly<Record<string, unknown>>)[name];
    return at ? (at.reduce(inside, document) as Part) : part;
  }

  /** @param isSent  whether the client sends the value, or receives it. */
  function describe(subject: string, schema: Part, isSent: boolean): void {
    if (schema.$ref !== undefined) {
      const name = schema.$ref.split('/').at(-1) ?? '';
      promise(`${subject}: ${name}`, subject);
      describe(promise(name, subject), resolved(schema), isSent);
      return;
    }
    if (schema.deprecated) demand(`${subject} is deprecated`, subject);
    const types = [schema.type ?? []].flat();
    if (isSent) {
      for (const type of types) promise(`${subject} may be ${type}`, subject);
      if (schema.format) demand(`${subject} must be ${schema.format}`, subject);
      if (schema.pattern) demand(`${subject} must match ${schema.pattern}`, subject);
      if (schema.enum) demand(`${subject} must be one of a list`, subject);
      for (const [bound, sign] of Object.entries(BOUNDS)) {
        const value = (schema as Readonly<Record<string, unknown>>)[bound];
        if (typeof value === 'number') demand(`${subject} has a stricter ${bound}`, subject, sign * value);
      }
    } else if (types.length > 0) {
      promise(`${subject} is ${[...types, schema.format ?? []].flat().join(' ')}`, subject);
    }
    for (const value of schema.enum ?? []) promise(`${subject} may be ${JSON.stringify(value)}`, subject);
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const field = promise(`${subject}.${name}`, subject);
      const isRequired = schema.required?.includes(name);
      if (isRequired && isSent) demand(`${field} is required`, subject);
      if (isRequired && !isSent) promise(`${field} is always there`, field);
      describe(field, property, isSent);
    }
    if (schema.items) describe(`${subject}[]`, schema.items, isSent);
    if (schema.additionalProperties) describe(`${subject}[*]`, schema.additionalProperties, isSent);
    for (const one of schema.anyOf ?? []) describe(subject, one, isSent);
  }

  function describeOperation(name: string, operation: Operation): void {
    promise(`${name} is called ${operation.operationId}`, name);
    if (operation.deprecated) demand(`${name} is deprecated`, name);
    const credentials = operation.security.flatMap((scheme) => Object.keys(scheme));
    for (const credential of credentials.length > 0 ? credentials : ['everyone'])
      promise(`${name} serves ${credential}`, name);
    for (const parameter of operation.parameters) {
      const subject = promise(`${name} takes ${parameter.in} ${parameter.name}`, name);
      if (parameter.required) demand(`${name} requires ${parameter.in} ${parameter.name}`, name);
      describe(subject, { ...parameter.schema, deprecated: parameter.deprecated === true }, true);
    }
    if (operation.requestBody) demand(`${name} requires a body`, name);
    for (const [type, { schema = {} }] of Object.entries(operation.requestBody?.content ?? {}))
      describe(promise(`${name} takes ${type}`, name), schema, true);
    for (const [status, answer] of Object.entries(operation.responses)) {
      const subject = promise(`${name} answers ${status}`, name);
      const { headers = {}, content = {} } = resolved(answer);
      for (const header of operation.deprecated ? ['Deprecation', 'Sunset', 'Link'] : [])
        if (!(header in headers)) demand(`${name} answers without ${header}`, name);
      for (const [header, part] of Object.entries(headers))
        describe(promise(`${subject} with ${header}`, subject), resolved(part).schema ?? {}, false);
      for (const [type, { schema = {}, examples = {} }] of Object.entries(content)) {
        describe(promise(`${subject} in ${type}`, subject), schema, false);
        for (const code of Object.keys(examples)) promise(`${subject} ${code}`, subject);
      }
    }
  }

  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const name = promise(`${method.toUpperCase()} ${path}`, '');
      // HEAD says nothing that GET does not say.
      if (method !== 'head') describeOperation(name, operation);
    }
  }
  return { promises, demands };
}
