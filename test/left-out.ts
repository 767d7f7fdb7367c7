import { existsSync } from 'node:fs';
import { CLIENTS, markOf } from './docs/generators/clients.ts';
import { COMPILERS, commandOf, compilerOf, MARK_OF_SCHEMATHESIS, RUNTIMES } from './docs/generators/tools.ts';
import { SOAK_OPTIONS } from './support/soak-options.ts';

/** What the tests of generated clients use, and leave out if it is not installed. */
const INSTALLED = [
  ...CLIENTS.map(markOf),
  ...COMPILERS.map(compilerOf),
  ...Object.keys(RUNTIMES).map(commandOf),
  MARK_OF_SCHEMATHESIS,
];

const isLeftOut = (name: string) =>
  name === 'CLIENT_GENERATORS' ? !INSTALLED.every((file) => existsSync(file)) : process.env[name] === undefined;

/** Prints at the end of a run of the soak what it left out, and by which option. */
export default function setup(): () => void {
  return () => {
    const lines = Object.entries(SOAK_OPTIONS)
      .filter(([name]) => isLeftOut(name))
      .map(([name, { value, adds, takes }]) => `  ${name}=${value} adds ${adds}${takes ? ` (${takes})` : ''}`);
    if (lines.length > 0) console.log(['This run of the soak left out (test/README.md):', ...lines].join('\n'));
  };
}
