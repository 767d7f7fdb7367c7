import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { inject } from 'vitest';

/**
 * What happens to a call: it gets this response instead of the engine's, its connection is cut before or after the engine
 * has applied it (`cut before`, `cut after`), or it is never applied and never answered (`silence`).
 */
export type Fault = { readonly status: number; readonly body: object } | 'cut before' | 'cut after' | 'silence';

export interface DynamoDbProxy {
  /** The operations that arrived, such as `UpdateItem`, oldest first. */
  readonly calls: string[];
  /** Decides about each call; undefined forwards it to the engine. Tests replace this function. */
  fault: (operation: string) => Fault | undefined;
}

/**
 * Starts a proxy between the product's DynamoDB clients and the engine of the test run. It records the calls, and injects
 * over HTTP, as in production, what DynamoDB Local never does: conflicts, throttling and lost answers.
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

/** DynamoDB's error for a cancelled transaction, with one reason code per item. */
export function cancelled(...codes: string[]): Fault {
  return dynamoDbError('TransactionCanceledException', { CancellationReasons: codes.map((Code) => ({ Code })) });
}

/** An error response of DynamoDB with status 400. */
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
