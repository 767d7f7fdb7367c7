import { connect, type Socket } from 'node:net';

/** An answer as it came over the wire. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/**
 * Sends bytes over a connection of their own, be they HTTP or not, and reads the first final answer to them.
 * @param address  an URL, of which host and port count.
 * @param bytes  a string's characters are bytes.
 * @returns undefined when the connection ends without a whole answer.
 */
export function sendRaw(address: string, bytes: string | Uint8Array): Promise<RawAnswer | undefined> {
  return new Promise((resolve) => {
    const socket = openSocket(address);
    let received = Buffer.alloc(0);
    const finish = (answer: RawAnswer | undefined) => {
      socket.destroy();
      resolve(answer);
    };
    socket.on('data', (data: Buffer) => {
      received = Buffer.concat([received, data]);
      const answer = parseAnswer(received, false);
      if (answer) finish(answer);
    });
    // An answer may be followed by a reset: what came before it counts.
    socket.on('error', () => {});
    socket.on('close', () => finish(parseAnswer(received, true)));
    socket.on('end', () => finish(parseAnswer(received, true)));
    socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  });
}

/**
 * The bytes of a request with a `Host`; each character is a byte.
 * @param line  method and target.
 * @param headers  whole lines, as they are to be sent.
 */
export function rawRequest(line: string, headers: readonly string[] = [], body = ''): string {
  return `${[`${line} HTTP/1.1`, 'Host: localhost', ...headers].join('\r\n')}\r\n\r\n${body}`;
}

/** Sends bytes over a connection of their own and hangs up as soon as the other side has them. */
export async function sendAndLeave(address: string, bytes: string | Uint8Array): Promise<void> {
  const socket = openSocket(address);
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject);
    socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes, (error) =>
      error ? reject(error) : resolve(),
    );
  });
  socket.destroy();
}

/** A request body in chunks of one size (RFC 9112, 7.1), with the last one; each character is a byte. */
export function inChunks(body: string, size: number): string {
  const chunks = body.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
  return [...chunks, ''].map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('');
}

function openSocket(address: string): Socket {
  const { hostname, port } = new URL(address);
  return connect(Number(port), hostname);
}

/** @param isOver  no more bytes will come. @returns undefined while the answer is not whole. */
function parseAnswer(received: Buffer, isOver: boolean): RawAnswer | undefined {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const [statusLine = '', ...lines] = received.toString('latin1', 0, headEnd).split('\r\n');
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1]);
  const rest = received.subarray(headEnd + 4);
  if (status < 200) return parseAnswer(rest, isOver);
  const headers = new Headers(lines.map((line) => line.split(/:\s*(.*)/s).slice(0, 2) as [string, string]));
  const body = bodyOf(rest, headers, isOver);
  return body && { status, headers, text: body.toString() };
}

function bodyOf(rest: Buffer, headers: Headers, isOver: boolean): Buffer | undefined {
  if (headers.get('transfer-encoding') === 'chunked') return unchunked(rest);
  const length = headers.get('content-length');
  if (length === null) return isOver ? rest : undefined;
  return rest.length >= Number(length) ? rest.subarray(0, Number(length)) : undefined;
}

function unchunked(rest: Buffer): Buffer | undefined {
  const content: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = rest.indexOf('\r\n', at);
    const size = Number.parseInt(rest.toString('latin1', at, lineEnd), 16);
    if (lineEnd < 0 || rest.length < lineEnd + 2 + size + 2) return undefined;
    if (size === 0) return Buffer.concat(content);
    content.push(rest.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}
