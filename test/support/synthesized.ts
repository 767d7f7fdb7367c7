import { inject } from 'vitest';
import { loadAssembly, type TemplateResource } from '../../local-aws/template/assembly.ts';

/** A resource of the synthesized service, with its logical id. */
export type Synthesized = TemplateResource & {
  readonly logicalId: string;
  readonly Properties: Record<string, unknown>;
};

/**
 * All resources of a type in one stack, in the order of the template.
 * @param stack  the end of the stack's name (`Api`).
 */
export async function synthesized(stack: string, type: string): Promise<Synthesized[]> {
  const { templates } = await loadAssembly(inject('assembly'));
  const [, template] = Object.entries(templates).find(([name]) => name.endsWith(`-${stack}`)) ?? [];
  if (!template) throw new Error(`there is no stack ${stack}`);
  return Object.entries(template.Resources)
    .filter(([, { Type }]) => Type === type)
    .map(([logicalId, resource]) => ({ logicalId, Properties: {}, ...resource }));
}

/** The only resource of a type in a stack. @throws Error when the stack has none or several. */
export async function onlySynthesized(stack: string, type: string): Promise<Synthesized> {
  const [only, ...others] = await synthesized(stack, type);
  if (!only || others.length > 0) throw new Error(`${stack} does not have exactly one ${type}`);
  return only;
}
