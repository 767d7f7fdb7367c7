import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Transform } from 'node:stream';

/** The requests of an upload and of a deletion; `other` is any other request. */
export type Step = 'form' | 'ticket' | 'put' | 'complete' | 'delete' | 'other';

/** What the proxy does to one request instead of forwarding it unchanged. */
export type Fault =
  /** Closes the connection when the request arrives, or after the service has answered it. */
  | 'lost before'
  | 'lost after'
  /** Sends the first half of the answer, and closes the connection. */
  | 'cut'
  /** Sends the first half of the answer as if it were all of it. */
  | 'half'
  /** Reads no bytes of the request, or sends no byte of the answer, and keeps the connection. */
  | 'stall'
  | 'stall after'
  /** Forwards this many bytes of the body in a second. */
  | { readonly bytesPerSecond: number }
  /** Closes the connection when it has forwarded this many bytes of the body. */
  | { readonly resetAt: number }
  /** Sends this answer, when `after` has resolved, and does not forward the request. */
  | {
      readonly status: number;
      readonly headers?: Record<string, string>;
      readonly body?: string;
      readonly after?: () => Promise<unknown>;
    }
  /** Adds headers to the answer of the service. */
  | { readonly addHeaders: Record<string, string> };

interface Passed {
  readonly step: Step;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  /** When the request arrived, in milliseconds of `performance.now()`. */
  readonly at: number;
}

export interface FaultyProxy {
  /** The address of the app. */
  readonly url: string;
  /** All requests, in the order in which they arrived. */
  readonly requests: readonly Passed[];
  /** Applies the faults to the next requests of a step, one fault to each. */
  addFaults(step: Step, ...faults: readonly Fault[]): void;
  /** Resolves when the first byte of a request of this step has arrived. */
  arrival(step: Step): Promise<void>;
  /** Resolves when the service has answered a request of this step, whether or not the answer is passed on. */
  answer(step: Step): Promise<void>;
  close(): Promise<void>;
}

/** Starts a proxy in front of a service and of its storage, to which a test adds faults. */
export async function startFaultyProxy(rootUrl: string): Promise<FaultyProxy> {
  const faults = new Map<Step, Fault[]>();
  const requests: Passed[] = [];
  const events = new Map<string, PromiseWithResolvers<void>>();
  const eventOf = (what: 'arrival' | 'answer', step: Step) => {
    const event = events.get(`${what} ${step}`) ?? Promise.withResolvers<void>();
    events.set(`${what} ${step}`, event);
    return event;
  };
  /** The storage's own address, which the service puts into tickets. */
  let storage = '';
  const take = (incoming: IncomingMessage, response: ServerResponse, target: URL, isStorage: boolean) => {
    const step = stepOf(incoming, isStorage);
    const { method = '', url = '', headers } = incoming;
    requests.push({ step, method, url, headers, at: performance.now() });
    eventOf('arrival', step).resolve();
    const fault = faults.get(step)?.shift();
    const edit = (text: string) => {
      eventOf('answer', step).resolve();
      return text.replace(
        /"url":"(https?:\/\/[^/]+)(\/[^"]*X-Amz-Signature[^"]*)"/,
        (_, origin: string, path: string) => {
          storage = origin;
          return `"url":"${addressOf(storageServer)}${path}"`;
        },
      );
    };
    pass(incoming, response, target, fault, edit);
  };
  const appServer = createServer((incoming, response) => take(incoming, response, new URL(rootUrl), false));
  const storageServer = createServer((incoming, response) => take(incoming, response, new URL(storage), true));
  await Promise.all(
    [appServer, storageServer].map((server) => new Promise<void>((up) => server.listen(0, '127.0.0.1', up))),
  );
  return {
    url: addressOf(appServer),
    requests,
    addFaults: (step, ...more) => void faults.set(step, [...(faults.get(step) ?? []), ...more]),
    arrival: (step) => eventOf('arrival', step).promise,
    answer: (step) => eventOf('answer', step).promise,
    async close() {
      for (const server of [appServer, storageServer]) {
        server.closeAllConnections();
        await new Promise((closed) => server.close(closed));
      }
    },
  };
}

const addressOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

function stepOf({ method, url = '' }: IncomingMessage, isStorage: boolean): Step {
  if (isStorage) return 'put';
  if (method === 'DELETE') return 'delete';
  if (method !== 'POST') return 'other';
  if (url === '/api/v1/files') return 'form';
  if (url === '/api/v1/uploads') return 'ticket';
  return url.endsWith('/complete') ? 'complete' : 'other';
}

function pass(
  incoming: IncomingMessage,
  response: ServerResponse,
  target: URL,
  fault: Fault | undefined,
  edit: (text: string) => string,
): void {
  const hangUp = () => void incoming.socket.destroy();
  if (fault === 'stall') return;
  if (fault === 'lost before') {
    hangUp();
    return;
  }
  if (typeof fault === 'object' && 'status' in fault) {
    incoming.resume();
    const answer = () =>
      response.writeHead(fault.status, fault.headers).end(fault.body ?? '{"error":"service_unavailable"}');
    if (fault.after) void fault.after().then(answer);
    else answer();
    return;
  }
  const { host: _, ...headers } = incoming.headers;
  const options = {
    method: incoming.method ?? 'GET',
    headers: { ...headers, host: target.host },
    agent: false as const,
  };
  const outgoing = request(new URL(incoming.url ?? '/', target), options, async (answer) => {
    const text = edit(Buffer.concat(await answer.toArray()).toString());
    const { 'content-length': _, 'transfer-encoding': __, ...kept } = answer.headers;
    const added = typeof fault === 'object' && 'addHeaders' in fault ? fault.addHeaders : {};
    for (const name of Object.keys(added)) delete kept[name.toLowerCase()];
    const bytes = Buffer.from(text);
    if (fault === 'lost after') return hangUp();
    if (fault === 'stall after') return;
    const half = bytes.subarray(0, bytes.length / 2);
    const length = fault === 'half' ? half.length : bytes.length;
    response.writeHead(answer.statusCode ?? 0, { ...kept, ...added, 'content-length': length });
    if (fault === 'half') response.end(half);
    else if (fault === 'cut') response.write(half, hangUp);
    else response.end(bytes);
  });
  outgoing.on('error', hangUp);
  incoming.on('error', () => outgoing.destroy());
  response.on('close', () => !response.writableFinished && fault === undefined && outgoing.destroy());
  let passed = 0;
  incoming.on('data', (chunk: Buffer) => {
    passed += chunk.length;
    if (typeof fault === 'object' && 'resetAt' in fault && passed >= fault.resetAt) {
      outgoing.destroy();
      incoming.socket.resetAndDestroy();
    }
  });
  if (typeof fault === 'object' && 'bytesPerSecond' in fault) incoming.pipe(slow(fault.bytesPerSecond)).pipe(outgoing);
  else incoming.pipe(outgoing);
}

function slow(bytesPerSecond: number): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      setTimeout(() => done(null, chunk), (1_000 * chunk.length) / bytesPerSecond);
    },
  });
}
