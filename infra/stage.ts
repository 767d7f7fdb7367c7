import type { App } from 'aws-cdk-lib';

/** `prod` keeps its data when a stack goes; `dev` can be destroyed whole. */
export const STAGES = ['prod', 'dev'] as const;
export type StageName = (typeof STAGES)[number];

export const DEFAULT_STAGE: StageName = 'prod';

/**
 * The SSM parameter of a deployment from which `npm run admin` learns where its tables and its bucket are: the environment
 * of its stores, as JSON.
 */
export function operatorParameterName(stage: StageName): string {
  return `/file-hosting/${stage}/operator`;
}

/** What the operator chose by context (`-c stage=dev`, `-c streamingUploads=false`, `-c originSecretSlot=b`). */
export interface StageConfig {
  readonly name: StageName;
  /** False: uploads over 4 MiB must be direct; such a deployment does not hold the whole contract. */
  readonly streamingUploads: boolean;
  /** The slot of the origin secret that the edge sends: to rotate it, fill the other one and then name it here. */
  readonly originSecretSlot: 'a' | 'b';
}

/** @throws Error naming the context value that is not one of those it may be. */
export function readStageConfig(app: App): StageConfig {
  return {
    name: oneOf(app, 'stage', STAGES, DEFAULT_STAGE),
    streamingUploads: oneOf(app, 'streamingUploads', ['true', 'false'], 'true') === 'true',
    originSecretSlot: oneOf(app, 'originSecretSlot', ['a', 'b'], 'a'),
  };
}

function oneOf<Value extends string>(app: App, name: string, values: readonly Value[], fallback: Value): Value {
  const given = String(app.node.tryGetContext(name) ?? fallback);
  const value = values.find((candidate) => candidate === given);
  if (value === undefined) throw new Error(`context ${name} must be ${values.join(' or ')}, not "${given}"`);
  return value;
}
