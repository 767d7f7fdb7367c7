import { join } from 'node:path';
import type { BucketConfig } from './buckets/read-buckets.ts';
import { type AsyncInvoker, createAsyncInvoker, readInvokeConfigs } from './events/async-invoker.ts';
import { createEventBus, type EventBus, readRules } from './events/event-bus.ts';
import { openEventQueue } from './events/event-queue.ts';
import {
  type FunctionConfig,
  readFunctions,
  readWebFunctions,
  type Surroundings,
  type WebFunctionConfig,
} from './lambda/function-config.ts';
import type { LogListener } from './lambda/invocation.ts';
import { createLambdaService, type LambdaService, readPermissions } from './lambda/lambda-service.ts';
import type { Deployment } from './template/deployment.ts';

/** The functions, and what invokes them other than by HTTP: events and schedules. */
export interface Compute {
  readonly functions: readonly FunctionConfig[];
  readonly webFunctions: readonly WebFunctionConfig[];
  readonly surroundings: Surroundings;
  readonly lambda: LambdaService;
  readonly bus: EventBus;
  readonly invoker: AsyncInvoker;
  close(): Promise<void>;
}

/** Creates the functions and the event bus. No function runs yet. With `isClockRunning`, the clock begins to run the schedules. */
export function createCompute(options: {
  readonly deployment: Deployment;
  readonly buckets: readonly BucketConfig[];
  readonly awsEndpoint: string;
  /** Keeps the events that are not handled yet. */
  readonly dataDir: string;
  /** Values of variables of functions, in place of the template's. Variables that the template does not give are ignored. */
  readonly environment: Readonly<Record<string, string>>;
  readonly onLog: LogListener;
  readonly isClockRunning: boolean;
  readonly retryDelaysMs: readonly number[] | undefined;
}): Compute {
  const { deployment, buckets, environment, onLog, retryDelaysMs } = options;
  const withOverrides = <F extends { readonly variables: Readonly<Record<string, string>> }>(fn: F): F => ({
    ...fn,
    variables: mapValues(fn.variables, (value, name) => environment[name] ?? value),
  });
  const functions = readFunctions(deployment).map(withOverrides);
  const webFunctions = readWebFunctions(deployment).map(withOverrides);
  const surroundings = { region: deployment.account.region, awsEndpoint: options.awsEndpoint };
  const mayInvoke = readPermissions(deployment);
  const lambda = createLambdaService({ functions, mayInvoke, surroundings, onLog });
  const configs = readInvokeConfigs(deployment);
  const queue = openEventQueue(join(options.dataDir, 'events'));
  const invoker = createAsyncInvoker({ lambda, configs, queue, onLog, ...(retryDelaysMs && { retryDelaysMs }) });
  const bus = createEventBus({
    rules: readRules(deployment),
    bucketsWithEvents: new Set(buckets.filter(({ hasEvents }) => hasEvents).map(({ name }) => name)),
    invoker,
    account: deployment.account,
    isClockRunning: options.isClockRunning,
  });
  return {
    functions,
    webFunctions,
    surroundings,
    lambda,
    bus,
    invoker,
    async close() {
      bus.close();
      invoker.close();
      await lambda.close();
    },
  };
}

function mapValues(
  values: Readonly<Record<string, string>>,
  change: (value: string, name: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value, name)]));
}
