import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../../local-aws/host/ports.ts';
import { jsonLine, rowLines } from '../../../operator/admin/commands/text.ts';
import { COMMANDS, EXIT_CODES, OPTIONS, usageOf } from '../../../operator/admin/commands.ts';
import { confirm } from '../../../operator/admin/confirm.ts';
import { main } from '../../../operator/admin/main.ts';
import { startAdmin } from '../../support/admin.ts';

/** How the operator's command reads its arguments, formats its output and asks for confirmation, and what it prints when it cannot run. */

const run = (args: string[], environment: Record<string, string> = {}) => startAdmin(args, environment).outcome;

let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'admin-'));
});
afterAll(() => rm(dataDir, { recursive: true }));

test('the help names every command, option and exit code', async () => {
  const { code, stdout, stderr } = await run(['--help']);
  expect([code, stderr]).toEqual([0, '']);
  const lines = stdout.split('\n').map((line) => line.trim());
  for (const [name, command] of Object.entries(COMMANDS)) expect(lines).toContain(usageOf(name, command));
  for (const name of [...Object.keys(OPTIONS), ...Object.keys(EXIT_CODES)]) expect(lines).toContain(name);
});

test('the JSON of a command has no control characters, and the same value', () => {
  const name = 'a\u009b31m\x7f\u202eb\u{e0041}';
  expect(jsonLine({ name })).toBe('{"name":"a\\u009b31m\\u007f\\u202eb\\udb40\\udc41"}');
  expect(JSON.parse(jsonLine({ name }))).toEqual({ name });
});

test('lines of the logs end with a hint when there may be older lines', () => {
  const rows = [{ '@timestamp': '2026-11-20 03:30:00.000', status: '413' }];
  const line = '2026-11-20 03:30:00.000  status=413';
  expect(rowLines(rows, { none: 'Nothing.', isCut: false })).toBe(line);
  expect(rowLines(rows, { none: 'Nothing.', isCut: true })).toMatch(/ {2}status=413\nThere may be more: .* --until /);
  expect(rowLines([], { none: 'Nothing.', isCut: false })).toBe('Nothing.');
});

test.each<[string, string[], string]>([
  ['without a command', [], 'The command is missing: see --help.'],
  ['with an unknown command', ['frobnicate'], 'There is no command "frobnicate": see --help.'],
  [
    'with a command that is a property of every object',
    ['constructor'],
    'There is no command "constructor": see --help.',
  ],
  ['without the account that the command needs', ['show'], 'The command is: show <account>'],
  ['with two accounts for one command', ['show', 'a', 'b'], 'The command is: show <account>'],
  ['with an option of another command', ['show', 'a', '--dry-run'], 'The command is: show <account>'],
  ['with two accounts for reconcile', ['reconcile', 'a', 'b'], 'The command is: reconcile [<account>] [--dry-run]'],
  [
    'with --until for a command that has no times',
    ['show', 'a', '--until', '2026-11-20T03:30'],
    'The command is: show <account>',
  ],
  [
    'with a time without a day',
    ['requests', 'a', '--until', '03:30'],
    '--until is a time in UTC, such as 2026-11-20T03:30, not "03:30".',
  ],
  [
    'with an hour that does not exist',
    ['audit', 'a', '--until', '2026-11-20T25:30'],
    '--until is a time in UTC, such as 2026-11-20T03:30, not "2026-11-20T25:30".',
  ],
  ['with an unknown option', ['show', 'a', '--force'], "Unknown option '--force': see --help."],
])('a command line %s is rejected with exit code 2 and one sentence', async (_name, args, sentence) => {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
  expect(await main(args, streams)).toBe(2);
  expect([streams.stdout.read(), String(streams.stderr.read())]).toEqual([null, `${sentence}\n`]);
});

describe('a command ends with one sentence on stderr', () => {
  test.each<[string, Record<string, string>, string]>([
    ['without a stage', {}, 'no stage is named: set STAGE to prod, dev, local, the name of a file in infra/stages'],
    [
      'with an unknown stage',
      { STAGE: 'test' },
      'there is no stage "test": set STAGE to prod, dev, local, the name of a file in infra/stages',
    ],
    [
      'with the stage of npm start, but without --local',
      { STAGE: 'local' },
      'For the service that "npm start" runs, add --local.',
    ],
  ])('an environment %s gives exit code 2', async (_name, environment, sentence) => {
    expect(await run(['show', 'a'], environment)).toEqual({ code: 2, stdout: '', stderr: `${sentence}\n` });
  });

  test('the sentence says that credentials are missing', async () => {
    const { code, stderr } = await run(['show', 'a@example.com'], { STAGE: 'prod' });
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^There are no AWS credentials \([^\n]*: log in [^\n]*\n$/),
    ]);
  });

  test('the sentence says that AWS cannot be reached', async () => {
    const { code, stderr } = await run(['show', 'a@example.com'], {
      STAGE: 'prod',
      AWS_ACCESS_KEY_ID: 'a',
      AWS_SECRET_ACCESS_KEY: 'b',
      AWS_ENDPOINT_URL: `http://127.0.0.1:${await freePort()}`,
    });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^AWS cannot be reached, [^\n]*ECONNREFUSED[^\n]*\n$/)]);
  });

  test('the sentence says that no local service has been started', async () => {
    const { code, stderr } = await run(['show', 'a@example.com', '--local'], { DATA_DIR: dataDir });
    const sentence = `The service is not running: ${dataDir}/operator.json cannot be read. Start it with "npm start".\n`;
    expect([code, stderr]).toEqual([1, sentence]);
  });

  test('a local service that was killed is reported, whatever AWS endpoint the operator has set', async () => {
    const gone = {
      AWS_ENDPOINT_URL: `http://127.0.0.1:${await freePort()}`,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'a',
      AWS_SECRET_ACCESS_KEY: 'b',
    };
    await writeFile(join(dataDir, 'operator.json'), JSON.stringify(gone));
    const own = { STAGE: 'prod', AWS_PROFILE: 'mine', AWS_ENDPOINT_URL_SSM: 'http://127.0.0.1:1', DATA_DIR: dataDir };
    const { code, stderr } = await run(['show', 'a@example.com', '--local'], own);
    expect([code, stderr]).toEqual([1, 'The service is not running: start it with "npm start".\n']);
  });
});

describe('a confirmation', () => {
  const ask = (answer: string, isTTY = true) => {
    const [input, output] = [Object.assign(new PassThrough(), { isTTY }), new PassThrough()];
    input.end(answer);
    return confirm('Really?', { input, output }).then(() => String(output.read()));
  };

  test('stops reading the terminal as soon as it is answered, so that the command can end', async () => {
    const input = Object.assign(new PassThrough(), { isTTY: true });
    input.write('yes\n');
    await confirm('Really?', { input, output: new PassThrough() });
    expect(input.isPaused()).toBe(true);
  });

  test.each(['yes\n', 'YES\n', ' yes \n', 'yes'])('is given by %j', async (answer) => {
    expect(await ask(answer)).toBe('Really? Type "yes": ');
  });

  test.each(['no\n', 'y\n', '\n', '', 'yes please\n', 'no\nyes\n'])('is refused by %j', async (answer) => {
    await expect(ask(answer)).rejects.toThrow('Nothing was changed.');
  });

  test('needs --yes without a terminal', async () => {
    await expect(ask('yes\n', false)).rejects.toThrow('add --yes');
  });
});
