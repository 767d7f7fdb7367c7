import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { inject } from 'vitest';

/**
 * What happens to a call: an answer of ours instead of the engine's, a connection cut before or after the effect, or no
 * effect and no answer.
 */
export type Fault = { readonly status: number; readonly body: object } | 'cut before' | 'cut after' | 'silence';

export interface DynamoDbProxy {
  /** The operations that arrived, such as `UpdateItem`, oldest first. */
  readonly calls: string[];
  /** Asked at each call; undefined lets it pass. Tests replace it. */
  fault: (operation: string) => Fault | undefined;
}

/**
 * Stands between the product's own DynamoDB clients and the run's engine: counts the calls, and injects what DynamoDB
 * Local never shows (conflicts, throttling, lost answers) on the wire, where the SDK meets it in production.
 */
export async function startDynamoDbProxy(): Promise<DynamoDbProxy> {
  const proxy: DynamoDbProxy = { calls: [], fault: () => undefined };
  const server = createServer((request, response) => void forward(proxy, request, response));
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  process.env.AWS_ENDPOINT_URL_DYNAMODB = `http://127.0.0.1:${port}`;
  process.env.AWS_REGION = 'us-east-1';
  process.env.AWS_ACCESS_KEY_ID = process.env.AWS_SECRET_ACCESS_KEY = 'test';
  return proxy;
}

/** The cancellation of a transaction, as DynamoDB writes it, with a reason for each item. */
export function cancelled(...codes: string[]): Fault {
  return dynamoDbError('TransactionCanceledException', { CancellationReasons: codes.map((Code) => ({ Code })) });
}

/** An error DynamoDB answers 400 with. */
export function dynamoDbError(name: string, fields: object = {}): Fault {
  return { status: 400, body: { __type: `com.amazonaws.dynamodb.v20120810#${name}`, Message: name, ...fields } };
}

async function forward(proxy: DynamoDbProxy, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
  const body = await buffer(request);
  proxy.calls.push(operation);
  const fault = proxy.fault(operation);
  if (fault === 'silence') return;
  if (fault === 'cut before') return void request.socket.destroy();
  if (typeof fault === 'object') {
    response.writeHead(fault.status, { 'Content-Type': 'application/x-amz-json-1.0' });
    return void response.end(JSON.stringify(fault.body));
  }
  const { host: _host, 'content-length': _length, connection: _connection, ...headers } = request.headers;
  const answer = await fetch(inject('dynamoDbEndpoint'), {
    method: 'POST',
    headers: headers as Record<string, string>,
    body,
  });
  if (fault === 'cut after') return void request.socket.destroy();
  response.writeHead(answer.status, { 'Content-Type': 'application/x-amz-json-1.0' });
  response.end(Buffer.from(await answer.arrayBuffer()));
}
