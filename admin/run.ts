import { main } from './main.ts';

/** The entry of `npm run admin -- <command>`. */

// stdout is only for the result of the command, so what the use cases log goes to stderr.
console.log = console.error;
process.exitCode = await main(process.argv.slice(2), process);
