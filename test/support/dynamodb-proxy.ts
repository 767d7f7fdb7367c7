import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, inject } from 'vitest';

/**
 * What happens to a call; the words are those of `FaultEffect` in `local-aws/`. A status and a body: the proxy sends this answer, and the
 * engine does not get the call. `cut`: the connection ends, and the engine does not get the call. `cut-after`: the engine performs the
 * call, then the connection ends. `timeout`: there is no answer, and the engine does not get the call.
 */
export type ProxyFault = { readonly status: number; readonly body: object } | 'cut' | 'cut-after' | 'timeout';

/** Chooses the fault of a call by its operation, such as `UpdateItem`; undefined forwards the call to the engine. */
type ChooseFault = (operation: string) => ProxyFault | undefined;

export interface DynamoDbProxy {
  /** The operations that arrived since the test began, such as `UpdateItem`, oldest first. */
  readonly calls: string[];
  /**
   * Asks the function about each call until the end of the test, or until the next function is set. When the function chose no
   * fault for any call, the test fails, because it did not test a fault. `mayNotApply` prevents that.
   */
  setFault(choose: ChooseFault, options?: { readonly mayNotApply?: true }): void;
  /** Forwards every further call to the engine. */
  removeFault(): void;
}

/**
 * Starts a proxy between the product's DynamoDB clients and the engine of the test run. It records the calls, and injects
 * over HTTP, as in production, what DynamoDB Local never does: conflicts, throttling and lost answers. Call it where a test
 * file begins, not in a hook: it adds hooks of its own, which would never run when they are added in a hook.
 */
export async function startDynamoDbProxy(): Promise<DynamoDbProxy> {
  const calls: string[] = [];
  const faults = recordFaults();
  const server = createServer((request, response) => {
    void forward(request, response, (operation) => {
      calls.push(operation);
      return faults.choose(operation);
    });
  });
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  process.env.AWS_ENDPOINT_URL_DYNAMODB = `http://127.0.0.1:${port}`;
  process.env.AWS_REGION = 'us-east-1';
  process.env.AWS_ACCESS_KEY_ID = process.env.AWS_SECRET_ACCESS_KEY = 'test';
  beforeEach(() => void calls.splice(0));
  afterEach(() => faults.assertApplied());
  return { calls, setFault: faults.set, removeFault: faults.remove };
}

interface FaultOfTest {
  readonly choose: ChooseFault;
  readonly mayNotApply: boolean;
  hits: number;
}

/** The faults of one test, counted. */
export function recordFaults() {
  const all: FaultOfTest[] = [];
  let current: FaultOfTest | undefined;
  return {
    set(choose: ChooseFault, { mayNotApply }: { readonly mayNotApply?: true } = {}): void {
      current = { choose, mayNotApply: mayNotApply === true, hits: 0 };
      all.push(current);
    },
    remove(): void {
      current = undefined;
    },
    choose(operation: string): ProxyFault | undefined {
      const fault = current?.choose(operation);
      if (current && fault !== undefined) current.hits += 1;
      return fault;
    },
    /** Also forgets the faults, for the next test. @throws Error when one of them applied to no call. */
    assertApplied(): void {
      const unused = all.splice(0).filter(({ hits, mayNotApply }) => hits === 0 && !mayNotApply);
      current = undefined;
      if (unused.length > 0)
        throw new Error(`a fault applied to no call: ${unused.map(({ choose }) => choose).join('; ')}`);
    },
  };
}

/** DynamoDB's error for a cancelled transaction, with one reason code per item. */
export function cancelled(...codes: string[]): ProxyFault {
  return dynamoDbError('TransactionCanceledException', { CancellationReasons: codes.map((Code) => ({ Code })) });
}

/** An error response of DynamoDB with status 400. */
export function dynamoDbError(name: string, fields: object = {}): ProxyFault {
  return { status: 400, body: { __type: `com.amazonaws.dynamodb.v20120810#${name}`, Message: name, ...fields } };
}

async function forward(request: IncomingMessage, response: ServerResponse, choose: ChooseFault): Promise<void> {
  const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
  const body = await buffer(request);
  const fault = choose(operation);
  if (fault === 'timeout') return;
  if (fault === 'cut') return void request.socket.destroy();
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
  if (fault === 'cut-after') return void request.socket.destroy();
  response.writeHead(answer.status, { 'Content-Type': 'application/x-amz-json-1.0' });
  response.end(Buffer.from(await answer.arrayBuffer()));
}
