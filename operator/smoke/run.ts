import { parseArgs } from 'node:util';
import type { StageConfig } from '../../infra/settings/stage.ts';
import { stageOf } from '../../infra/stages/stages.ts';
import { appUrlOf, requireDeployed } from '../deploy/deployed.ts';
import { type Check, NotTried, type Settings } from './check.ts';
import { LANE_CHECKS } from './lanes.ts';
import { LIMITER_CHECKS } from './limiter.ts';
import { LINK_CHECKS } from './links.ts';
import { entriesFor } from './never-tried.ts';
import { REFUSAL_CHECKS } from './refusals.ts';
import { ROUTE_CHECKS } from './routes.ts';
import { Service } from './service.ts';

/**
 * `STAGE=prod npm run smoke -- --key svc_…`: checks a running service, local or deployed, within its rate limits, and prints one line per
 * check. The exit code is 1 when a check fails, and 2 when the checks cannot begin. All uploaded files are deleted. The stage says where the
 * service on AWS is.
 */

const HELP = `STAGE=<stage> npm run smoke -- [--key <API key>] [options]

  --key <key>               an API key of an account with 200 MB of free storage; default: FILE_HOSTING_KEY
  --largest-mib <number>    store no file larger than this (100)
  --gateway-url <url>       address of the gateway itself (output GatewayUrl), which must reject every request
  --only <text>             run only the checks whose name contains this text

Only with STAGE=local, the service that "npm start" runs:
  --base-url <url>          its address, with /api/v1 (that of npm start, at PORT or 8787)
  --max-upload-bytes <n>    its MAX_UPLOAD_SIZE_BYTES (104857600)
  --no-streaming            it has no streaming function
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
  let settings: Settings & { only: string; isOnAws: boolean };
  try {
    const read = await readSettings();
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
  return summarize(outcomes, settings.isOnAws);
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

/** Prints what failed, and on AWS what may explain it. @returns the exit code. */
function summarize(outcomes: readonly Outcome[], isOnAws: boolean): number {
  const tried = outcomes.filter(({ verdict }) => verdict !== 'not tried');
  const failed = tried.filter(({ verdict }) => verdict !== 'holds');
  console.log();
  for (const outcome of failed) {
    console.log(lineOf(outcome));
    const entries = isOnAws ? entriesFor(outcome.name) : [];
    if (entries.length > 0) console.log(`               docs/not-tried-on-aws.md: ${entries.join('; ')}`);
  }
  console.log(
    `Checks that hold: ${tried.length - failed.length} of ${tried.length}. Not tried: ${outcomes.length - tried.length}.`,
  );
  return failed.length === 0 && tried.length > 0 ? 0 : 1;
}

function lineOf({ name, verdict, remark }: Outcome): string {
  return `${verdict.padEnd(15)}${name}${remark === undefined ? '' : `: ${remark}`}`;
}

/** Reads the options. @returns undefined for `--help`. @throws Error saying which option is missing or invalid. */
async function readSettings(): Promise<(Settings & { only: string; isOnAws: boolean }) | undefined> {
  const { values } = parseArgs({
    options: {
      'base-url': { type: 'string' },
      key: { type: 'string' },
      'largest-mib': { type: 'string', default: '100' },
      'max-upload-bytes': { type: 'string' },
      'gateway-url': { type: 'string' },
      'no-streaming': { type: 'boolean' },
      only: { type: 'string', default: '' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return undefined;
  }
  const key = values.key ?? process.env.FILE_HOSTING_KEY;
  if (!key) throw new Error('--key is required.');
  const stage = stageOf(process.env);
  const { baseUrl, ...settings } = stage.name === 'local' ? localService(values) : await deployedService(stage, values);
  return {
    ...settings,
    service: new Service({ baseUrl, key }),
    largestBytes: parsePositive('--largest-mib', values['largest-mib']) * 1024 * 1024,
    gatewayUrl: values['gateway-url'],
    only: values.only,
    isOnAws: stage.name !== 'local',
  };
}

interface LocalOptions {
  readonly 'base-url'?: string;
  readonly 'max-upload-bytes'?: string;
  readonly 'no-streaming'?: boolean;
}

type Found = Pick<Settings, 'maxUploadBytes' | 'isStreaming'> & { readonly baseUrl: string };

function localService(options: LocalOptions): Found {
  return {
    baseUrl: options['base-url'] ?? `http://localhost:${process.env.PORT || 8787}/api/v1`,
    maxUploadBytes: parsePositive('--max-upload-bytes', options['max-upload-bytes'] ?? '104857600'),
    isStreaming: !options['no-streaming'],
  };
}

/** @throws Error when the stage is not deployed, or is deployed with other settings than those in its file. */
async function deployedService(stage: StageConfig, options: LocalOptions): Promise<Found> {
  const given = (['base-url', 'max-upload-bytes', 'no-streaming'] as const).find((name) => options[name] !== undefined);
  if (given !== undefined) throw new Error(`--${given} is only for STAGE=local.`);
  await requireDeployed(stage);
  return {
    baseUrl: `${await appUrlOf(stage)}/api/v1`,
    maxUploadBytes: stage.limits.MAX_UPLOAD_SIZE_BYTES,
    isStreaming: stage.streaming !== undefined,
  };
}

function parsePositive(option: string, text: string): number {
  const value = Number(text);
  if (value > 0 && Number.isFinite(value)) return value;
  throw new Error(`${option} must be a positive number, not "${text}".`);
}
