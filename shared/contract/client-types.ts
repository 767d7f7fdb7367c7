import type { OpenApiDocument } from './document.ts';
import type { Schema } from './operation.ts';

/** The types of JSON Schema that the document uses, besides objects and arrays. */
const PRIMITIVES: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
};

const LINE_WIDTH = 120;

/**
 * Writes the types of the TypeScript client: an interface for each schema of the document, and a type of its error codes.
 * We wrote this ourselves because openapi-typescript needs the compiler API of TypeScript 5, which TypeScript 7 does not have.
 * @returns the text of a module.
 * @throws Error for a schema that it cannot express.
 */
export function clientTypes({ components: { schemas } }: OpenApiDocument): string {
  const { ErrorAnswer: error, ...others } = schemas;
  const interfaces = Object.entries(others).map(
    ([name, schema]) => `${comment(schema, '')}export interface ${name} ${typeOf(schema, '')}\n`,
  );
  return [
    '// Made by `npm run generate` from the OpenAPI document of the service.\n',
    ...interfaces,
    typeOfCodes(error ?? {}),
  ].join('\n');
}

function typeOfCodes({ properties }: Schema): string {
  const { error: { enum: codes = [] } = {} } = properties as { readonly error?: { readonly enum?: readonly string[] } };
  const lines = codes.map((code) => `\n  | '${code}'`);
  return `/** The codes of the errors that the service answers with. */\nexport type ServiceErrorCode =${lines.join('')};\n`;
}

function typeOf(schema: Schema, indent: string): string {
  const { $ref, type, items, properties, additionalProperties, enum: values } = schema;
  if (typeof $ref === 'string') return $ref.replace('#/components/schemas/', '');
  if (Array.isArray(values)) return values.map((one) => `'${one}'`).join(' | ');
  if (type === 'array') return `readonly ${typeOf(items as Schema, indent)}[]`;
  if (additionalProperties) return `Readonly<Record<string, ${typeOf(additionalProperties as Schema, indent)}>>`;
  if (properties) return objectOf(schema, indent);
  const primitives = [type].flat().map((one) => PRIMITIVES[String(one)]);
  if (primitives.includes(undefined)) throw new Error(`there is no type for ${JSON.stringify(schema)}`);
  return primitives.join(' | ');
}

function objectOf({ properties, required }: Schema, indent: string): string {
  const inner = `${indent}  `;
  const lines = Object.entries(properties as Readonly<Record<string, Schema>>).map(([name, schema]) => {
    const optional = (required as readonly string[]).includes(name) ? '' : '?';
    return `${comment(schema, inner)}${inner}readonly ${name}${optional}: ${typeOf(schema, inner)};\n`;
  });
  return `{\n${lines.join('')}${indent}}`;
}

/** The description of a schema as a comment of one or more lines. */
function comment({ description }: Schema, indent: string): string {
  if (typeof description !== 'string') return '';
  const line = `${indent}/** ${description} */\n`;
  if (line.length <= LINE_WIDTH) return line;
  const lines = description.match(new RegExp(`.{1,${LINE_WIDTH - indent.length - 3}}(?:\\s|$)`, 'g')) ?? [];
  return `${indent}/**\n${lines.map((one) => `${indent} * ${one.trimEnd()}\n`).join('')}${indent} */\n`;
}
