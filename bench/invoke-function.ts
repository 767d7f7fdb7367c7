import { setTimeout as sleep } from 'node:timers/promises';

/** Loads a bundle and invokes its handler, as Lambda's runtime does in a new process. `functions.ts` runs this as a program. */

/** What one process measures, in milliseconds; `Cpu` is the time of all its threads. */
export interface Invoked {
  readonly importMs: number;
  readonly importCpu: number;
  /** The work between the import and the first request: the warm-up. */
  readonly warmUpCpu: number;
  readonly firstMs: number;
  readonly firstCpu: number;
  /** The mean of the measured requests. By then the process has served a few hundred requests, like a process in use. */
  readonly warmMs: number;
  readonly warmCpu: number;
}

type Handler = (event: object, context: object) => Promise<{ readonly statusCode: number }>;

/** How many requests warm the function up, and how many are measured after that. */
const AGE = { warmUp: 200, measured: 200 };
/** The time that Lambda's runtime takes to ask for the first event and to receive it. */
const BEFORE_FIRST_MS = 100;

const [bundle = '', event] = process.argv.slice(2);
const nothing = { ms: 0, cpu: 0 };

function stopwatch(): () => { ms: number; cpu: number } {
  const [cpu, start] = [process.cpuUsage(), performance.now()];
  return () => {
    const ms = performance.now() - start;
    const { user, system } = process.cpuUsage(cpu);
    return { ms, cpu: (user + system) / 1_000 };
  };
}

async function timed(work: () => Promise<unknown>) {
  const stop = stopwatch();
  await work();
  return stop();
}

async function run(): Promise<Invoked> {
  const stop = stopwatch();
  const { handler } = require(bundle) as { handler: Handler };
  // Nothing is awaited before this, because all work that the bundle begins after it is loaded belongs to the warm-up.
  const loaded = stop();
  const invoke = async () => {
    const { statusCode } = await handler(JSON.parse(event ?? ''), context);
    if (statusCode !== 200) throw new Error(`${bundle} answered ${statusCode}`);
  };
  const context = { awsRequestId: 'bench', getRemainingTimeInMillis: () => 28_000 };
  const warmUp = await timed(() => sleep(BEFORE_FIRST_MS));
  const first = event === undefined ? nothing : await timed(invoke);
  if (event !== undefined) for (let count = 1; count < AGE.warmUp; count++) await invoke();
  const warm = await timed(async () => {
    if (event !== undefined) for (let count = 0; count < AGE.measured; count++) await invoke();
  });
  return {
    importMs: loaded.ms,
    importCpu: loaded.cpu,
    warmUpCpu: warmUp.cpu,
    firstMs: first.ms,
    firstCpu: first.cpu,
    warmMs: warm.ms / AGE.measured,
    warmCpu: warm.cpu / AGE.measured,
  };
}

const write = process.stdout.write.bind(process.stdout);
process.stdout.write = () => true; // The function's own log.
run()
  .then(
    (measured) => write(JSON.stringify(measured)),
    (error) => {
      console.error(error);
      process.exitCode = 1;
    },
  )
  .finally(() => process.exit());
