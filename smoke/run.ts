import { parseArgs } from 'node:util';
import { type Check, NotTried, type Settings } from './check.ts';
import { LANE_CHECKS } from './lanes.ts';
import { LIMITER_CHECKS } from './limiter.ts';
import { LINK_CHECKS } from './links.ts';
import { REFUSAL_CHECKS } from './refusals.ts';
import { ROUTE_CHECKS } from './routes.ts';
import { Service } from './service.ts';

/**
 * `npm run smoke -- --base-url https://…/api/v1 --key svc_…`: checks a running service, local or deployed, within its rate
 * limits, and prints one line per check. The exit code is 1 when a check fails. It deletes what it uploads.
 */

const HELP = `npm run smoke -- --base-url <https://…/api/v1> [--key <API key>] [options]

  --base-url <url>          address of the service, with /api/v1
  --key <key>               an API key of an account with 200 MB of free storage; default: FILE_HOSTING_KEY
  --largest-mib <number>    upload no file larger than this (100)
  --max-upload-bytes <n>    MAX_UPLOAD_SIZE_BYTES of the deployment (104857600)
  --gateway-url <url>       address of the gateway itself (output GatewayUrl), which must reject every request
  --no-streaming            the deployment has no streaming function
  --only <text>             run only the checks whose name contains this text
`;

const CHECKS: readonly Check[] = [
  ...ROUTE_CHECKS,
  ...LINK_CHECKS,
  ...REFUSAL_CHECKS,
  ...LANE_CHECKS,
  ...LIMITER_CHECKS,
];

interface Outcome {
  readonly name: string;
  readonly verdict: 'holds' | 'DOES NOT HOLD' | 'not tried';
  readonly remark: string | undefined;
}

process.exitCode = await main();

async function main(): Promise<number> {
  let settings: Settings & { only: string };
  try {
    const read = readSettings();
    if (!read) return 0;
    settings = read;
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${HELP}`);
    return 2;
  }
  const outcomes: Outcome[] = [];
  for (const check of CHECKS.filter(({ name }) => name.includes(settings.only))) {
    const outcome = await runCheck(check, settings);
    console.log(lineOf(outcome));
    outcomes.push(outcome);
  }
  const stuck = await settings.service.tidyUp();
  if (stuck.length > 0) console.log(`not deleted: ${stuck.join(', ')}`);
  return summarize(outcomes);
}

async function runCheck(check: Check, settings: Settings): Promise<Outcome> {
  const { name } = check;
  try {
    return { name, verdict: 'holds', remark: await check.run(settings) };
  } catch (error) {
    const verdict = error instanceof NotTried ? 'not tried' : 'DOES NOT HOLD';
    return { name, verdict, remark: (error as Error).message };
  }
}

/** @returns the exit code. */
function summarize(outcomes: readonly Outcome[]): number {
  const tried = outcomes.filter(({ verdict }) => verdict !== 'not tried');
  const failed = tried.filter(({ verdict }) => verdict !== 'holds');
  console.log();
  for (const outcome of failed) console.log(lineOf(outcome));
  console.log(
    `${tried.length - failed.length} of ${tried.length} hold, ${outcomes.length - tried.length} were not tried.`,
  );
  return failed.length === 0 && tried.length > 0 ? 0 : 1;
}

function lineOf({ name, verdict, remark }: Outcome): string {
  return `${verdict.padEnd(15)}${name}${remark === undefined ? '' : `: ${remark}`}`;
}

/** Reads the options. @returns undefined for `--help`. @throws Error saying which option is missing or invalid. */
function readSettings(): (Settings & { only: string }) | undefined {
  const { values } = parseArgs({
    options: {
      'base-url': { type: 'string' },
      key: { type: 'string' },
      'largest-mib': { type: 'string', default: '100' },
      'max-upload-bytes': { type: 'string', default: '104857600' },
      'gateway-url': { type: 'string' },
      'no-streaming': { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return undefined;
  }
  const key = values.key ?? process.env.FILE_HOSTING_KEY;
  if (values['base-url'] === undefined || !key) throw new Error('--base-url and --key are required.');
  return {
    service: new Service({ baseUrl: values['base-url'], key }),
    largestBytes: positive('--largest-mib', values['largest-mib']) * 1024 * 1024,
    maxUploadBytes: positive('--max-upload-bytes', values['max-upload-bytes']),
    isStreaming: !values['no-streaming'],
    gatewayUrl: values['gateway-url'],
    only: values.only,
  };
}

function positive(option: string, text: string): number {
  const value = Number(text);
  if (value > 0 && Number.isFinite(value)) return value;
  throw new Error(`${option} must be a positive number, not "${text}".`);
}
