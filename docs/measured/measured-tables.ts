import { readable, toTable } from '../../bench/measurement.ts';
import { COST_COLUMNS, GROWING, readResults } from '../../bench/results.ts';

/** What the documents show of the last recorded run of `npm run bench`. */
const RESULTS = readResults();

const isCost = (metric: string) => COST_COLUMNS.some((column) => metric.endsWith(`: ${column}`));
const isGrowth = (metric: string) => GROWING.some((what) => metric.startsWith(`${what}, of `));

/** What each request uses of AWS. */
export function usedByRequests(): { head: readonly string[]; rows: readonly (readonly string[])[] } {
  const costs = RESULTS.measurements.filter(({ metric }) => isCost(metric) && !isGrowth(metric));
  const byRequest = Map.groupBy(costs, ({ metric }) => metric.slice(0, metric.lastIndexOf(': ')));
  return {
    head: ['With an API key, in a warm function', ...COST_COLUMNS],
    rows: [...byRequest].map(([request, columns]) => [request, ...columns.map(({ value }) => readable(value))]),
  };
}

/** What was compared with something else in the same run. */
export function compared(): string {
  return `${toTable(RESULTS.measurements.filter(({ beside }) => beside))}\n\n${basis()}`;
}

/** The page `docs/measured.md`. */
export function measuredPage(): string {
  const others = RESULTS.measurements.filter(({ metric }) => !isCost(metric) || isGrowth(metric));
  return `# Measured

Made by \`npm run bench -- --record\`, which takes ${Math.ceil(RESULTS.seconds / 60)} minutes. ${basis()} What a request uses of AWS is in
the [README](../README.md#measured); these counts hold on AWS as well. Times do not: on AWS, clients, service and database do not share
processors. A *plain bundle* has the same handler, but the AWS SDK as published, bundled by esbuild without settings, and no warm-up. The
*bare pipe* is a process that only stores each body as an object in parts: it reads no form and knows no account. *Load* is the average
number of processes that wanted to run.

${toTable(others)}
`;
}

function basis(): string {
  const { recordedAt, machine } = RESULTS;
  const { processor, processors, node, load } = machine;
  return `Measured on ${recordedAt.slice(0, 10)} on one machine for clients, service, database and storage: ${processors} × ${processor}, Node ${node}, load ${load} before the run.`;
}
