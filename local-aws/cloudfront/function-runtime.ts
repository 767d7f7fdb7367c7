import { createContext, Script } from 'node:vm';
import type { ViewerRequestEvent, ViewerResponseEvent } from 'cloudfront';

/** The outcome of one run of a function. */
interface FunctionOutcome {
  /** What the handler returned. Its shape is not checked yet. */
  readonly result: unknown;
  /** The argument of `selectRequestOriginById`, if it was called. */
  readonly selectedOriginId?: string;
}

export interface FunctionRuntime {
  /** @throws Error when the code throws, does not end, or leaves a promise pending (CloudFront's "FunctionExecutionError"). */
  run(event: ViewerRequestEvent | ViewerResponseEvent): FunctionOutcome;
}

/**
 * CloudFront allows less than a millisecond of CPU time. This timeout only has to end endless loops. Code without a loop has no timeout:
 * Node starts a thread for each run with a timeout, which costs ten times as much as the run.
 */
const TIMEOUT = { timeout: 1_000 };
const LOOP = /\b(for|while)\s*\(|\bfor\s+await\b|\bdo\s*\{/;

const CLOUDFRONT_IMPORT = /^\s*import\s+(\w+)\s+from\s+(['"])cloudfront\2;?[ \t]*$/m;

/** The `cloudfront` module, created inside the context of the function. */
const CLOUDFRONT_MODULE = `({
  selectRequestOriginById(originId) { selectedOriginId = originId; },
})`;

/**
 * Passes event and result as JSON, so that the code shares no object with this process. The context runs its promise jobs
 * before `runInContext` returns, so an async handler has settled by then. Nothing could settle it later.
 */
const INVOKE = new Script(`
  selectedOriginId = outcome = failure = undefined;
  try {
    const returned = handler(JSON.parse(event));
    if (returned && typeof returned.then === 'function') {
      returned.then((value) => { outcome = JSON.stringify(value) || 'null'; }, (error) => { failure = String(error); });
    } else {
      outcome = JSON.stringify(returned) || 'null';
    }
  } catch (error) {
    failure = String(error);
  }
`);

/**
 * Loads the code of a CloudFront Function (runtime 2.0) into a context of its own. The context has only the language, the module
 * `cloudfront`, and a `console` that discards its output. It has no Node globals and runs no code from strings. Its global state lives as
 * long as the distribution. The function handles one event at a time.
 * @throws SyntaxError, or what the top level of the code throws.
 */
export function loadFunction(code: string): FunctionRuntime {
  const world: Record<string, string | undefined> = {
    event: undefined,
    outcome: undefined,
    failure: undefined,
    selectedOriginId: undefined,
  };
  const context = createContext(world, {
    codeGeneration: { strings: false, wasm: false },
    microtaskMode: 'afterEvaluate',
  });
  new Script('globalThis.console = { log() {} };').runInContext(context);
  new Script(
    code.replace(CLOUDFRONT_IMPORT, (_line, name: string) => `const ${name} = ${CLOUDFRONT_MODULE};`),
    {
      filename: 'cloudfront-function.js',
    },
  ).runInContext(context, TIMEOUT);
  const limits = LOOP.test(code) ? TIMEOUT : {};

  return {
    run(event) {
      world.event = JSON.stringify(event);
      INVOKE.runInContext(context, limits);
      if (world.failure !== undefined) throw new Error(`the function threw ${world.failure}`);
      if (world.outcome === undefined) throw new Error('the function left a promise pending');
      const result: unknown = JSON.parse(world.outcome);
      const selectedOriginId = world.selectedOriginId;
      return selectedOriginId === undefined ? { result } : { result, selectedOriginId };
    },
  };
}
