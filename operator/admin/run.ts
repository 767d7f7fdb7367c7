import { main } from './main.ts';

/** The entry of `npm run admin -- <command>`. */

// stdout is only for the result of the command, so the log lines of the domain code go to stderr.
console.log = console.error;
process.exitCode = await main(process.argv.slice(2), process);
