import { main } from './main.ts';

/** `npm run admin -- <command>`: what an operator does to accounts and files, on AWS or on this machine. */

// stdout is only for the result of the command, so what the use cases log goes to stderr.
console.log = console.error;
process.exitCode = await main(process.argv.slice(2), process);
