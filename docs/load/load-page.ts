import { readLoadFigures } from './load-figures.ts';

const HEAD = ['Request', 'Requests', 'p50', 'p95', 'p99'];

/** The page `docs/load.md`. */
export function loadPage(): string {
  const { recordedAt, machine, seconds, kinds, failed, abusive, p95, serviceBytes, engineBytes, handles } =
    readLoadFigures();
  const minutes = Math.round(seconds / 60);
  const { processor, processors, node, load } = machine;
  const ms = (value: number) => `${Math.round(value)} ms`;
  const mb = (bytes: number) => `${Math.round(bytes / 1e6)} MB`;
  const rows = kinds.map((one) => [one.kind, String(one.count), ms(one.p50), ms(one.p95), ms(one.p99)]);
  const table = [HEAD, ['---', '---:', '---:', '---:', '---:'], ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  const growth = ((serviceBytes.after / serviceBytes.before - 1) * 100).toFixed(1);
  return `# Under load

Made by a run of \`test/load/load.soak.ts\` for ${minutes} minutes, on ${recordedAt.slice(0, 10)}: \`LOAD_MINUTES=${minutes} npm run test:soak -- test/load\`. The run fails, and
records nothing, if a statement below is not true. \`npm run test:soak\` does the same for a minute, without looking at what grows.

Nine honest accounts and an abusive one use \`npm start\` with its default limits, through [autocannon](https://github.com/mcollina/autocannon).
Everything ran on one machine with ${processors} × ${processor}, Node ${node}, load ${load} after the run, so the times do not hold on AWS. The honest accounts
upload, list, search, read and delete, ask for tickets and cancel them. Every other quarter of a minute the abusive account uploads
ten times as fast as its limit admits.

## What the honest accounts waited

${table.join('\n')}

- Requests that failed, or got no answer: ${failed}.
- p95 of all requests: ${ms(p95.alone)} without the abusive account, ${ms(p95.beside)} beside it: ${(p95.beside / p95.alone).toFixed(2)} times as long, at most twice.

## What the abusive account got

${abusive.admitted} uploads were admitted and ${abusive.refused} refused with 429. No span of 60 seconds had more uploads than the limit admits, and no
upload was refused before the limit was reached.

## What grew

The medians of the second and of the last quarter of the run:

| | Second quarter | Last quarter |
| --- | ---: | ---: |
| Memory of the service (at most 10 % more) | ${mb(serviceBytes.before)} | ${mb(serviceBytes.after)}, ${growth} % |
| Memory of the database's engine | ${mb(engineBytes.before)} | ${mb(engineBytes.after)} |
| Open files and sockets of the service (at most 10 % more) | ${handles.before} | ${handles.after} |

## Ends and failures

\`test/service/durability.soak.ts\` ends the service ten times by \`kill -9\` amid mixed traffic: every acknowledged file is there, whole, listed
and charged, and what was deleted or cancelled is gone. \`test/service/stopped-engine.soak.ts\` freezes the database, and kills it:
meanwhile every route answers in time, and afterwards every route works again without a restart.
`;
}
