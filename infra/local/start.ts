import { join, resolve } from 'node:path';
import { startEngine } from '../../local-aws/dynamodb/engine.ts';
import { lockDataDir } from '../../local-aws/host/data-dir.ts';
import { FREE_BYTES, requireSpace } from '../../local-aws/host/disk.ts';
import { choosePorts } from '../../local-aws/host/ports.ts';
import { goPastProxy, PROXY_TAKES_LOCALHOST } from '../../local-aws/host/proxy.ts';
import { localStage } from '../stages/stages.ts';
import { reportFunction, requestLine } from './report.ts';
import { synthesize } from './synthesize.ts';

/**
 * `npm start`: the whole service on this machine. `PORT` (8787) is the port of the app, `DATA_DIR` (.local) the data
 * directory. Limits have the names of shared/contract/limits.ts.
 *
 * The script in package.json limits V8's space for new objects to two halves of 8 MB. By default each half grows to 64 MB when many
 * requests come. That takes some 200 MB of memory more and saves no processor time.
 */

const DEFAULT_PORT = 8787;
const PARENT_CHECK_MS = 1_000;
const HELP = `npm start: the whole service on this machine. Its settings are variables of the environment:
  PORT=${DEFAULT_PORT}        the port of the app; 0 takes a free one
  DATA_DIR=.local  the folder of the data; remove it to begin anew
  ENGINE           the database: dynoxide, or dynamodb-local (needs Java; the data lasts only until the service stops)
  the limits that docs/api.md lists, such as MAX_UPLOAD_SIZE_BYTES`;

const stopping = new AbortController();
const started: { close(): unknown }[] = [];

readOptions(process.argv.slice(2));
process.on('SIGINT', stop);
process.on('SIGTERM', stop);
// Whoever reads the log may go away, as a `tee` that was ended. The files matter more than the log, so the service goes on without it.
for (const output of [process.stdout, process.stderr]) output.on('error', () => {});
stopWithNpm();
goPastProxy();
try {
  await start(readPort(process.env.PORT), resolve(process.env.DATA_DIR || '.local'));
} catch (error) {
  if (!stopping.signal.aborted) await fail(error as Error);
}

async function start(port: number, dataDir: string): Promise<void> {
  localStage(process.env);
  started.push(await lockDataDir(dataDir));
  requireSpace(dataDir, FREE_BYTES.start);
  // The service chooses the same ports again. Here a port that cannot be had is known before anything else is done.
  await choosePorts(port, dataDir);
  console.log('Bundling the functions, synthesizing the stacks, starting the database …');
  const assembly = join(dataDir, 'cdk.out');
  const [engine, { startService }] = await Promise.all([
    startEngine({
      dataDir: join(dataDir, 'dynamodb'),
      buckets: join(dataDir, 's3'),
      onLost: (error) => stopping.signal.aborted || fail(error),
    }),
    // Loading this module takes a second, so the import begins only after the checks above, at the same time as the other steps.
    import('../../local-aws/service.ts'),
    synthesize(assembly, stopping.signal),
  ]);
  started.push(engine);
  console.log('Creating tables and buckets, starting the servers …');
  const service = await startService({
    assembly,
    dataDir,
    port,
    dynamoDbEndpoint: engine.endpoint,
    isClockRunning: true,
    onLog: (entry) => stopping.signal.aborted || reportFunction(entry),
    onRequest: (request) => console.log(requestLine(request)),
  });
  started.push(service);
  console.log(`READY ${JSON.stringify(service.urls)}`);
  console.log(nextSteps(service.urls.root_url, port, engine.keepsData));
}

/** Says how to log in or upload a first file. The lines can be pasted into another terminal in the directory of the project. */
function nextSteps(rootUrl: string, port: number, keepsData: boolean): string {
  const variables = port === DEFAULT_PORT ? '' : `PORT=${new URL(rootUrl).port} `;
  return [
    '',
    `Open ${rootUrl}/dashboard and log in with any e-mail address.`,
    'Or get an API key and upload a file, in another terminal:',
    '',
    `  eval "$(${variables}npm run --silent try)"`,
    '  curl -F file=@README.md -H "Authorization: Bearer $FILE_HOSTING_KEY" $FILE_HOSTING_URL/api/v1/files',
    '',
    ...(PROXY_TAKES_LOCALHOST
      ? ['A proxy is set. Programs reach the service past it if NO_PROXY has localhost,127.0.0.1.']
      : []),
    keepsData
      ? 'Ctrl-C stops the service; the data stays.'
      : 'Ctrl-C stops the service. Its files and accounts last only until then, because DynamoDB Local has them in memory.',
  ].join('\n');
}

/** Ends everything in order. A second call ends this process at once; child processes then end when their pipes close. */
function stop(): void {
  if (stopping.signal.aborted) process.exit(130);
  stopping.abort();
  void closeAll().finally(() => process.exit(0));
}

async function fail({ message }: Error): Promise<void> {
  console.error(message);
  stopping.abort();
  await closeAll();
  process.exit(1);
}

async function closeAll(): Promise<void> {
  for (const part of started.splice(0).reverse()) await part.close();
}

/**
 * Ends this process when npm was killed by `kill -9`. Otherwise this process would go on, and keep the port and the data. The script begins
 * with `exec`, because some shells would stay between npm and this process, and live on.
 */
function stopWithNpm(): void {
  if (process.env.npm_lifecycle_event !== 'start') return;
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && stop(), PARENT_CHECK_MS).unref();
}

/** An option that did nothing would leave its user with a service that is not what was asked for. */
function readOptions([option]: readonly string[]): void {
  if (option === undefined) return;
  if (option === '--help') console.log(HELP);
  else console.error(`npm start has no option "${option}".\n${HELP}`);
  process.exit(option === '--help' ? 0 : 1);
}

function readPort(text: string | undefined): number {
  const port = Number(text || DEFAULT_PORT);
  if (/^\d*$/.test(text ?? '') && port <= 65_535) return port;
  console.error(`PORT must be a whole number from 0 to 65535, not "${text}".`);
  return process.exit(1);
}
