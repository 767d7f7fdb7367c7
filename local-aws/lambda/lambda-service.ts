import { randomUUID } from 'node:crypto';
import type { Surroundings } from './environment-variables.ts';
import type { FunctionConfig } from './function-config.ts';
import { FunctionPool } from './function-pool.ts';
import { InvocationRefused, type InvocationResult, PAYLOAD_MAX_BYTES } from './invocation.ts';
import type { LogListener } from './log-lines.ts';
import type { Invoker, MayInvoke } from './permissions.ts';
import { newTraceId } from './trace-id.ts';

export interface InvokeRequest {
  readonly functionArn: string;
  /** JSON. */
  readonly payload: string;
  /** The service on whose behalf it is done. Absent: whoever runs the local environment, who may do anything. */
  readonly invoker?: Invoker;
  readonly requestId?: string;
  readonly traceId?: string;
}

export interface LambdaService {
  /** Runs a function and waits for its result. @throws InvocationRefused when it was not run. */
  invoke(request: InvokeRequest): Promise<InvocationResult>;
  /** The function of that name, label or ARN. @throws Error when there is none, or more than one. */
  find(name: string): FunctionConfig;
  /** Ends the environments of a function, as AWS may at any time, also in the middle of an event. */
  killEnvironments(functionArn: string): Promise<void>;
  close(): Promise<void>;
}

/** Lambda on one machine. Nothing runs before the first event. */
export function createLambdaService(options: {
  readonly functions: readonly FunctionConfig[];
  readonly mayInvoke: MayInvoke;
  readonly surroundings: Surroundings;
  readonly onLog: LogListener;
}): LambdaService {
  const { functions, mayInvoke, surroundings, onLog } = options;
  const pools = new Map(functions.map((fn) => [fn.arn, new FunctionPool(fn, surroundings, onLog)]));
  const poolOf = (functionArn: string): FunctionPool => {
    const pool = pools.get(functionArn);
    if (!pool) throw new InvocationRefused('ResourceNotFound', `Function not found: ${functionArn}`);
    return pool;
  };
  return {
    async invoke({ functionArn, payload, invoker, requestId = randomUUID(), traceId = newTraceId() }) {
      const pool = poolOf(functionArn);
      if (invoker && !mayInvoke(functionArn, invoker)) {
        throw new InvocationRefused('AccessDenied', `${invoker.principal} may not invoke ${functionArn}`);
      }
      const bytes = Buffer.byteLength(payload);
      if (bytes > PAYLOAD_MAX_BYTES) {
        throw new InvocationRefused('RequestTooLarge', `${bytes} byte payload is too large`);
      }
      return pool.run({ requestId, payload, traceId });
    },
    find(name) {
      const found = functions.filter((fn) => [fn.name, fn.label, fn.arn].includes(name));
      if (found.length === 1 && found[0]) return found[0];
      throw new Error(`${found.length} functions are called "${name}"`);
    },
    killEnvironments: (functionArn) => poolOf(functionArn).kill(),
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.close()));
    },
  };
}
