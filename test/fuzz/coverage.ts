import { Session } from 'node:inspector';

/** What one input made our code do. */
export interface Trace {
  /** The blocks that ran. An input that runs a block that no earlier one ran is worth keeping. */
  readonly features: readonly string[];
  /** How often blocks ran, all together. It measures work without a clock, but not the work inside the platform, such as `indexOf`. */
  readonly steps: number;
}

/** The files whose blocks count: our functions and what they share, and the edge functions (as local-aws/cloudfront/function-runtime.ts names them). */
const OURS = /(?<!\/test)\/(?:functions|shared)\/[\w/-]+\.ts|^cloudfront-function\.js$/;

/**
 * V8 says which blocks of our code run. It counts blocks only in functions that it compiles while it counts, so it counts from the first call
 * to the last. (Jazzer.js counts by instrumented code. But the addon of its version 4 needs a newer C library than that of Debian 12, and
 * the addons of its earlier versions come from GitHub, not from npm.)
 */
let session: Session | undefined;

export function startTracing(): void {
  if (session) return;
  session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
}

/** V8 stops counting. Call it when the file has no further inputs to try. */
export function stopTracing(): void {
  session?.disconnect();
}

/** What ran since the last call. */
export function takeTrace(): Trace {
  const features: string[] = [];
  let steps = 0;
  // In the same thread, the answer comes before `post` returns.
  session?.post('Profiler.takePreciseCoverage', (_error, { result }) => {
    for (const { url, scriptId, functions } of result) {
      if (!OURS.test(url)) continue;
      for (const { ranges } of functions) {
        for (const { startOffset, endOffset, count } of ranges) {
          steps += count;
          if (count > 0) features.push(`${scriptId}:${startOffset}-${endOffset}`);
        }
      }
    }
  });
  return { features, steps };
}
