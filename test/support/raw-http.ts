import { connect, type Socket } from 'node:net';

/** A response as it was read from the connection. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/**
 * Sends bytes, valid HTTP or not, over a new connection, and reads the first final (not 1xx) response.
 * @param address  a URL; only host and port are used.
 * @param bytes  in a string, each character is one byte.
 * @param options.thenEnd  closes our half of the connection after the bytes, so that the server knows that no more will come.
 * @returns undefined when the connection ends without a complete response.
 */
export function sendRaw(
  address: string,
  bytes: string | Uint8Array,
  { thenEnd = false } = {},
): Promise<RawAnswer | undefined> {
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
    // A response may be followed by a reset; 'close' then takes what was received before.
    socket.on('error', () => {});
    socket.on('close', () => finish(parseAnswer(received, true)));
    socket.on('end', () => finish(parseAnswer(received, true)));
    socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
    if (thenEnd) socket.end();
  });
}

/**
 * Builds the text of a request with a `Host` header; each character is one byte.
 * @param line  method and target.
 * @param headers  complete header lines.
 */
export function rawRequest(line: string, headers: readonly string[] = [], body = ''): string {
  return `${[`${line} HTTP/1.1`, 'Host: localhost', ...headers].join('\r\n')}\r\n\r\n${body}`;
}

/** Sends bytes over a new connection and closes it as soon as they are written. */
export async function sendAndDisconnect(address: string, bytes: string | Uint8Array): Promise<void> {
  const socket = openSocket(address);
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject);
    socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes, (error) =>
      error ? reject(error) : resolve(),
    );
  });
  socket.destroy();
}

/** Encodes a body as chunks of `size` bytes with the last chunk (RFC 9112, 7.1); each character is one byte. */
export function inChunks(body: string, size: number): string {
  const chunks = body.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
  return [...chunks, ''].map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('');
}

function openSocket(address: string): Socket {
  const { hostname, port } = new URL(address);
  return connect(Number(port), hostname);
}

/** @param isOver  true when no more bytes will come. @returns undefined while the response is not complete. */
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
  if (headers.get('transfer-encoding') === 'chunked') return decodeChunks(rest);
  const length = headers.get('content-length');
  if (length === null) return isOver ? rest : undefined;
  return rest.length >= Number(length) ? rest.subarray(0, Number(length)) : undefined;
}

function decodeChunks(rest: Buffer): Buffer | undefined {
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
