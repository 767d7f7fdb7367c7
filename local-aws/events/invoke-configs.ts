import type { Deployment } from '../template/deployment.ts';
import { readProperties } from '../template/read-properties.ts';

/** How often an event that a function failed at is tried again, and where it goes in the end. */
export interface InvokeConfig {
  readonly retries: number;
  /** An event that is older is not tried again. */
  readonly maxAgeSeconds: number;
  /** An ARN. */
  readonly destination?: string;
}

/** Lambda's own. */
export const INVOKE_DEFAULTS: InvokeConfig = { retries: 2, maxAgeSeconds: 6 * 3_600 };

/** `AWS::Lambda::EventInvokeConfig`, by function ARN. */
export function readInvokeConfigs(deployment: Deployment): ReadonlyMap<string, InvokeConfig> {
  const functions = deployment.resources('AWS::Lambda::Function');
  return new Map(
    deployment.resources('AWS::Lambda::EventInvokeConfig').map((resource) =>
      readProperties(
        resource.logicalId,
        resource.properties(),
        (take) => {
          const name = take<string>('FunctionName');
          const fn = functions.find(({ ref }) => ref === name);
          if (!fn) throw new Error(`${resource.logicalId}: there is no function ${name}`);
          const { OnFailure } = take<{ OnFailure?: { Destination: string } }>('DestinationConfig', {});
          const config: InvokeConfig = {
            retries: Number(take('MaximumRetryAttempts', INVOKE_DEFAULTS.retries)),
            maxAgeSeconds: Number(take('MaximumEventAgeInSeconds', INVOKE_DEFAULTS.maxAgeSeconds)),
            ...(OnFailure && { destination: OnFailure.Destination }),
          };
          return [fn.attribute('Arn'), config] as const;
        },
        ['Qualifier'],
      ),
    ),
  );
}
