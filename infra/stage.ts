import type { App } from 'aws-cdk-lib';

/** `prod` keeps its data when a stack goes; `dev` can be destroyed whole. */
export type StageName = 'prod' | 'dev';

/** What the operator chose by context (`-c stage=dev`, `-c streamingUploads=false`). */
export interface StageConfig {
  readonly name: StageName;
  /** False: uploads over 4 MiB must be direct; such a deployment does not hold the whole contract. */
  readonly streamingUploads: boolean;
}

/** @throws Error naming the context value that is not one of those it may be. */
export function readStageConfig(app: App): StageConfig {
  return {
    name: oneOf(app, 'stage', ['prod', 'dev'], 'prod'),
    streamingUploads: oneOf(app, 'streamingUploads', ['true', 'false'], 'true') === 'true',
  };
}

function oneOf<Value extends string>(app: App, name: string, values: readonly Value[], fallback: Value): Value {
  const given = String(app.node.tryGetContext(name) ?? fallback);
  const value = values.find((candidate) => candidate === given);
  if (value === undefined) throw new Error(`context ${name} must be ${values.join(' or ')}, not "${given}"`);
  return value;
}
