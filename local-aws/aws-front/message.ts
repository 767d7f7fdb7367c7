import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';

/** A received request. */
export interface Message {
  readonly method: string;
  /** Path and query, as in the request line. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Reading the body sends `100 Continue` to a client that waits for this. @throws ClientGone */
  readonly body: AsyncIterable<Buffer>;
}

/** A request whose body can be read after its connection has ended. */
export interface KeepingMessage extends Message {
  /** Reads the rest of the body into memory; `body` then continues from there. @throws ClientGone */
  keepBody(): Promise<void>;
}

export function keepingBody(message: Message): KeepingMessage {
  const source = message.body[Symbol.asyncIterator]();
  const kept: Buffer[] = [];
  const next = async (): Promise<IteratorResult<Buffer>> => {
    const value = kept.shift();
    return value ? { value, done: false } : source.next();
  };
  const body = { next, return: async () => (await source.return?.()) ?? { value: undefined, done: true as const } };
  return {
    ...message,
    body: { [Symbol.asyncIterator]: () => body },
    async keepBody() {
      for (let part = await source.next(); !part.done; part = await source.next()) kept.push(part.value);
    },
  };
}

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | Readable;
}

/** The client ended the connection in the middle of its body, so no answer can be sent. */
export class ClientGone extends Error {
  constructor(cause: unknown) {
    super('the client went away', { cause });
    this.name = 'ClientGone';
  }
}
