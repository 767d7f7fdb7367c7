import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { shellLines } from './operator-page.ts';

/**
 * The `aws` commands of docs/operate.md exist and take the options that they are given. aws-options.json has the options of these
 * commands, taken from the models of the AWS CLI (botocore 1.44.5; `s3` from awscli 1.46.3, `logs tail` from the manual of version
 * 2). To use another command in the guide, add it there.
 */

const page = readFileSync(join(import.meta.dirname, '../../docs/operate.md'), 'utf8');
const OPTIONS = JSON.parse(readFileSync(join(import.meta.dirname, 'aws-options.json'), 'utf8')) as Record<
  string,
  readonly string[]
>;
const OF_EVERY_COMMAND = ['--query', '--output', '--region'];

/** The commands of a line, also those in a substitution, each with its options. */
function commandsOf(line: string): [command: string, options: string[]][] {
  const [, ...commands] = line.split(/(?<![\w/-])aws (?=[a-z])/);
  return commands.map((text) => {
    const [service, operation, waited] = text.split(/\s+/);
    const command = [service, operation, ...(operation === 'wait' ? [waited] : [])].join(' ');
    return [command, text.match(/(?<=\s)--[a-z][a-z0-9-]*/g) ?? []];
  });
}

const commands = shellLines(page).flatMap(commandsOf);

test.each(commands)('aws %s has the options that the guide uses', (command, options) => {
  expect(Object.keys(OPTIONS)).toContain(command);
  expect([...OF_EVERY_COMMAND, ...(OPTIONS[command] ?? [])]).toEqual(expect.arrayContaining(options));
});

test('the list of options has no command that the guide does not use', () => {
  const used = new Set(commands.map(([command]) => command));
  expect(Object.keys(OPTIONS).filter((command) => !used.has(command))).toEqual([]);
});
