import { Duration, type Stack } from 'aws-cdk-lib';
import * as events from 'aws-cdk-lib/aws-events';
import * as targets from 'aws-cdk-lib/aws-events-targets';
import { ServiceFunction } from '../constructs/service-function.ts';
import { BACKGROUND_NEEDS } from '../stacks/function-needs.ts';
import type { Watched } from './watched.ts';

/** How often the canary runs. */
export const CANARY_PERIOD = Duration.minutes(5);

/**
 * Adds the canary: a client of the service that runs every five minutes. It may only read its key and the address of the service, so
 * it sees what other clients see.
 */
export function addCanary(stack: Stack, { stage, resources, streaming }: Watched, bundles: string): void {
  const { function: canary } = new ServiceFunction(stack, 'Canary', {
    stage,
    resources,
    bundles,
    bundle: 'canary',
    needs: { ...BACKGROUND_NEEDS.canary, variables: { CANARY_STREAMS: String(streaming !== undefined) } },
    memoryMb: 256,
    // Eight requests of at most ten seconds each.
    timeoutSeconds: 90,
  });
  // A run that fails is not repeated: the next one follows within five minutes, and the alarm counts missing runs.
  canary.configureAsyncInvoke({ retryAttempts: 0 });
  new events.Rule(stack, 'EveryFiveMinutes', {
    description: 'Try the service as a client',
    schedule: events.Schedule.rate(CANARY_PERIOD),
    targets: [new targets.LambdaFunction(canary)],
  });
}
