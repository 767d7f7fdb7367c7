import { AsyncLocalStorage } from 'node:async_hooks';
import { Agent } from 'node:http';
import { Duplex } from 'node:stream';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import type { HttpRequest, MiddlewareStack } from '@smithy/types';

/** The handler that answers the calls of the current work; undefined when AWS answers them. */
const serversInMemory = new AsyncLocalStorage<NodeHttpHandler>();

/**
 * Runs work whose calls to AWS are answered by a server in memory, without a connection. Node compiles code at its first use. So a Lambda
 * function does such work while it loads, when Lambda gives it a whole processor. At its first request it gets only the share of a
 * processor that goes with its memory. Calls of other work go to AWS.
 * @param body  the body of every answer. Its status is 200.
 */
export function answeredInMemory<Result>(body: string, work: () => Promise<Result>): Promise<Result> {
  return serversInMemory.run(new NodeHttpHandler({ httpAgent: new AgentInMemory(body) }), work);
}

/** Makes {@link answeredInMemory} answer the calls of a client. */
export function answerInMemory<Input extends object, Output extends object>({
  middlewareStack,
}: {
  readonly middlewareStack: MiddlewareStack<Input, Output>;
}): void {
  middlewareStack.add(
    (next) => async (args) => {
      const server = serversInMemory.getStore();
      if (!server) return next(args);
      const request = Object.assign(args.request as HttpRequest, { protocol: 'http:' });
      const { response } = await server.handle(request as never);
      return { response, output: undefined as never };
    },
    { step: 'deserialize', priority: 'low', name: 'answerInMemory' },
  );
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
