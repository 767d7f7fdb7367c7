import { readable, toTable } from '../../bench/measurement.ts';
import { COST_COLUMNS, GROWING, readResults } from '../../bench/results.ts';

/** What the documents show of the last recorded run of `npm run bench`. */
const RESULTS = readResults();

const isCost = (metric: string) => COST_COLUMNS.some((column) => metric.endsWith(`: ${column}`));
const isGrowth = (metric: string) => GROWING.some((what) => metric.startsWith(`${what}, of `));

/** What each request uses of AWS. */
function usedByRequests(): string {
  const costs = RESULTS.measurements.filter(({ metric }) => isCost(metric) && !isGrowth(metric));
  const byRequest = Map.groupBy(costs, ({ metric }) => metric.slice(0, metric.lastIndexOf(': ')));
  const head = ['With an API key, in a warm function', ...COST_COLUMNS];
  const rows = [...byRequest].map(([request, columns]) => [request, ...columns.map(({ value }) => readable(value))]);
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** What was compared with something else in the same run. */
function compared(): string {
  return toTable(RESULTS.measurements.filter(({ beside }) => beside));
}

/** The page `docs/measured.md`. */
export function measuredPage(): string {
  const others = RESULTS.measurements.filter(({ metric, beside }) => !beside && (!isCost(metric) || isGrowth(metric)));
  return `# Measured

Made by \`npm run bench -- --record\`, which takes ${Math.ceil(RESULTS.seconds / 60)} minutes. ${basis()}

## What a request uses of AWS

*Calls* are calls to AWS. *Rounds* is how many of these calls follow one another; calls that are made at the same time are one round.
*Units* are those of DynamoDB. These numbers hold on AWS as well.

${usedByRequests()}

## Compared in the same run

Times do not hold on AWS, where clients, service and database do not share processors, but ratios say what our own code adds. Functions are
compared with the same steps without middleware, and with a *plain bundle*: the same handler, but the AWS SDK as published, bundled by
esbuild without settings, and no warm-up. The *streaming lane* is compared with a *bare pipe*, a process that only stores each body as an
object in parts: it reads no form and knows no account.

${compared()}

## How lists and searches grow

![How long a page of the list and a search take in an account of 100 to 1,000,000 files](growth.svg)

## Everything else

*Load* is the average number of processes that wanted to run.

${toTable(others)}
`;
}

function basis(): string {
  const { recordedAt, machine } = RESULTS;
  const { processor, processors, node, load } = machine;
  return `Measured on ${recordedAt.slice(0, 10)} on one machine for clients, service, database and storage: ${processors} × ${processor}, Node ${node}, load ${load} before the run.`;
}
