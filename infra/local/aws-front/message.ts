import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';

/** A request as it came in. */
export interface Message {
  readonly method: string;
  /** Path and query as they stand in the request line. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Reading it tells a client that waits for `100 Continue` to go on. @throws ClientGone */
  readonly body: AsyncIterable<Buffer>;
}

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | Readable;
}

/** The client ended the connection in the middle of its body. There is nobody to answer. */
export class ClientGone extends Error {
  constructor(cause: unknown) {
    super('the client went away', { cause });
    this.name = 'ClientGone';
  }
}
