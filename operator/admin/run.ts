import { Writable } from 'node:stream';
import { main } from './main.ts';

/** The entry of `npm run admin -- <command>`. */

// stdout is only for the result of the command, so the log lines of the domain code go to stderr.
const { stdin, stdout, stderr } = process;
const writeResult = stdout.write.bind(stdout);
stdout.write = stderr.write.bind(stderr);
const result = new Writable({ write: (chunk, _encoding, done) => void writeResult(chunk, done) });
process.exitCode = await main(process.argv.slice(2), { stdin, stdout: result, stderr });
