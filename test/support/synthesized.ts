import { inject } from 'vitest';
import { loadAssembly, type TemplateResource } from '../../local-aws/template/assembly.ts';

/** A resource of the synthesized service, as its template has it. */
export type Synthesized = TemplateResource & {
  readonly logicalId: string;
  readonly Properties: Record<string, unknown>;
};

/** Every resource of a type in the stack whose name ends so (`Api`), in the order of the template. */
export async function synthesized(stack: string, type: string): Promise<Synthesized[]> {
  const { templates } = await loadAssembly(inject('assembly'));
  const [, template] = Object.entries(templates).find(([name]) => name.endsWith(`-${stack}`)) ?? [];
  if (!template) throw new Error(`there is no stack ${stack}`);
  return Object.entries(template.Resources)
    .filter(([, { Type }]) => Type === type)
    .map(([logicalId, resource]) => ({ logicalId, Properties: {}, ...resource }));
}

/** The one resource of a type that a stack has. @throws Error when it has none or several. */
export async function onlySynthesized(stack: string, type: string): Promise<Synthesized> {
  const [only, ...others] = await synthesized(stack, type);
  if (!only || others.length > 0) throw new Error(`${stack} has not exactly one ${type}`);
  return only;
}
