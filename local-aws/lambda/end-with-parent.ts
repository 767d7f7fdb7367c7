/**
 * Loaded into a Web Function's process before its own code: ends it when the process that started it is gone, however that
 * went, even by `kill -9`. The kernel then closes the pipe on our standard input.
 */
process.stdin.on('end', () => process.exit(1));
process.stdin.on('error', () => process.exit(1));
process.stdin.resume();
