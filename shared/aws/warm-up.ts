import { Agent } from 'node:http';
import { Duplex } from 'node:stream';
import { createSecureContext } from 'node:tls';
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import type { HttpRequest, MiddlewareStack } from '@smithy/types';
import { dynamoDb, dynamoDbOnce } from './dynamodb.ts';

/**
 * Does the work of the first calls to DynamoDB without a connection: Node compiles functions and loads certificates at their first use.
 * While a function loads, Lambda gives it a whole processor; at its first request, only the share that belongs to its memory.
 */
export async function warmUpDatabase(): Promise<void> {
  performance.now();
  createSecureContext();
  const Key = { id: 'none' };
  const get = new GetCommand({ TableName: 'none', Key });
  const update = new UpdateCommand({ TableName: 'none', Key, ExpressionAttributeValues: { ':one': 1, ':flag': true } });
  const item = '{"id":{"S":"none"},"n":{"N":"1"},"l":{"L":[]}}';
  answerInMemory(get, `{"Item":${item}}`);
  answerInMemory(update, `{"Attributes":${item}}`);
  // Twice, because Node does some work only when a function runs again, such as collecting the garbage of the first run.
  for (let time = 0; time < 2; time++) await Promise.all([dynamoDb.send(get), dynamoDbOnce.send(update)]);
}

/** Makes a server in memory answer a command, without a connection. Other commands are not affected. */
export function answerInMemory<Input extends object, Output extends object>(
  { middlewareStack }: { readonly middlewareStack: MiddlewareStack<Input, Output> },
  body = '',
): void {
  const handler = new NodeHttpHandler({ httpAgent: new AgentInMemory(body) });
  const answer = async ({ request }: { request: unknown }) => {
    const { response } = await handler.handle(Object.assign(request as HttpRequest, { protocol: 'http:' }) as never);
    return { response, output: undefined as never };
  };
  middlewareStack.add(() => answer as never, { step: 'deserialize', priority: 'low' });
}

class AgentInMemory extends Agent {
  readonly #body: string;

  constructor(body: string) {
    super();
    this.#body = body;
  }

  override createConnection(): Duplex {
    let isAnswered = false;
    const connection = new Duplex({
      read() {},
      write: (_chunk, _encoding, done) => {
        done();
        if (!isAnswered)
          connection.push(`HTTP/1.1 200 OK\r\nContent-Length: ${this.#body.length}\r\n\r\n${this.#body}`);
        isAnswered = true;
      },
    });
    return connection;
  }
}
