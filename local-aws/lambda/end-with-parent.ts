/**
 * Loaded into the process of a Web Function before its own code. It ends the process when its parent is gone, even by
 * `kill -9`: the kernel then closes the pipe on standard input.
 */
process.stdin.on('end', () => process.exit(1));
process.stdin.on('error', () => process.exit(1));
process.stdin.resume();
