import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { ask, CACHE_BEHAVIOR, expectOwnPage, ORIGIN, PASS_BEHAVIOR, type Rig, startRig, withFunction } from './rig.ts';

const MIB = 1024 * 1024;
const CHUNK = Buffer.alloc(64 * 1024, 'x');

function* chunks(bytes: number): Generator<Buffer> {
  for (let left = bytes; left > 0; left -= CHUNK.length) yield CHUNK.subarray(0, Math.min(left, CHUNK.length));
}

/** Begins an upload. The caller writes the body to the request that this returns. */
function upload({ port }: Rig, headers: Record<string, string> = {}) {
  const request = httpRequest({ host: '127.0.0.1', port, path: '/', method: 'POST', headers, agent: false });
  request.on('error', () => {});
  return request;
}

/** Writes until the other side takes no more for now; gives the number of bytes. */
async function writeUntilFull(out: { write(chunk: Buffer): boolean; writableNeedDrain: boolean }): Promise<number> {
  let bytes = 0;
  for (let idle = 0; idle < 200; idle++) {
    while (!out.writableNeedDrain) {
      out.write(CHUNK);
      bytes += CHUNK.length;
      idle = 0;
    }
    await setImmediate();
  }
  return bytes;
}

test('an origin that does not read slows the viewer down', async () => {
  const rig = await startRig(() => {});
  expect(await writeUntilFull(upload(rig))).toBeLessThan(32 * MIB);
});

test('a viewer that does not read slows the origin down', async () => {
  const written = Promise.withResolvers<number>();
  const rig = await startRig(async (_request, response) => written.resolve(await writeUntilFull(response)));
  const socket = connect(rig.port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  expect(await written.promise).toBeLessThan(32 * MIB);
  socket.destroy();
});

test('an upload that is cut reaches the origin as cut, not as complete', async () => {
  const seen = Promise.withResolvers<string>();
  const rig = await startRig((request) => {
    request.once('data', () => cut());
    request.on('end', () => seen.resolve('end'));
    request.on('error', () => seen.resolve('cut'));
  });
  const request = upload(rig, { 'content-length': '1000' });
  const cut = () => request.destroy();
  request.write('part');
  expect(await seen.promise).toBe('cut');
});

test('when the viewer ends a download, the connection to the origin ends, too', async () => {
  const left = Promise.withResolvers<void>();
  const rig = await startRig((_request, response) => {
    response.on('close', left.resolve);
    Readable.from(chunks(1024 * MIB)).pipe(response);
  });
  const request = httpRequest({ host: '127.0.0.1', port: rig.port, agent: false }).end();
  request.on('error', () => {});
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.destroy();
  await left.promise;
});

/** An origin that may be silent for three seconds. A busy machine pauses for less. */
const IMPATIENT = { Origins: [{ ...ORIGIN, CustomOriginConfig: { OriginReadTimeout: 3 } }] };

describe.each<[string, (response: ServerResponse) => void]>([
  ['cuts its answer', (response) => response.destroy()],
  ['falls silent in the middle of its answer', () => {}],
])('when the origin %s', (_, stop) => {
  const brokenRig = (config: object) =>
    startRig(
      (_request, response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('part', () => stop(response));
      },
      { config: { ...IMPATIENT, ...config } },
    );

  test('the viewer’s connection is cut, too', async () => {
    await expect(ask(await brokenRig({}), '/')).rejects.toThrow();
  });

  test('the answer is a 502 where it would be cached', async () => {
    expectOwnPage(await ask(await brokenRig({ DefaultCacheBehavior: CACHE_BEHAVIOR }), '/'), 502);
  });
});

test('a viewer that reads nothing for longer than the origin may be silent gets the whole answer', async () => {
  const rig = await startRig(
    ({ url }, response) => {
      if (url === '/large') Readable.from(chunks(32 * MIB)).pipe(response);
    },
    { config: IMPATIENT },
  );
  const request = httpRequest({ host: '127.0.0.1', port: rig.port, path: '/large', agent: false }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  // The time passes while others wait for an origin that is silent.
  for (const path of ['/silent', '/silent-too']) expect((await ask(rig, path)).status).toBe(504);
  expect((await buffer(response)).length).toBe(32 * MIB);
});

/** A client that reads nothing before it has sent everything, as many do. */
async function sendThenRead({ port }: Rig, head: string, bytes: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(head);
  for (const chunk of chunks(bytes)) {
    if (!socket.write(chunk)) await once(socket, 'drain');
  }
  const [reply] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return reply.toString();
}

const REFUSING = withFunction('viewer-request', 'function handler() { return { statusCode: 413, body: "{}" }; }');
const refusingRig = () =>
  startRig(() => {}, {
    config: { DefaultCacheBehavior: { ...PASS_BEHAVIOR, ...REFUSING.association } },
    resources: REFUSING.resources,
  });

test.each([
  ['keeps its connection', ''],
  ['sends Connection: close', 'Connection: close\r\n'],
])('a body that a function refuses is drained, so that a client that %s reads the answer', async (_, connection) => {
  const head = `POST / HTTP/1.1\r\nHost: x\r\n${connection}Content-Length: ${101 * MIB}\r\n\r\n`;
  expect(await sendThenRead(await refusingRig(), head, 101 * MIB)).toMatch(/^HTTP\/1\.1 413 /);
});

test('an endless body is cut', async () => {
  const rig = await refusingRig();
  const socket = connect(rig.port, '127.0.0.1');
  const closed = new Promise((resolve) => socket.on('error', () => {}).on('close', resolve));
  socket.resume();
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${2 ** 40}\r\n\r\n`);
  const flood = Readable.from(chunks(2 ** 40));
  flood.pipe(socket);
  await closed;
  flood.destroy();
});

test('after a refused upload the connection serves the next request', async () => {
  const rig = await refusingRig();
  const socket = connect(rig.port, '127.0.0.1');
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc');
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  expect((await text(socket)).match(/HTTP\/1\.1 413/g)).toHaveLength(2);
});

test('an upload that waits for 100 Continue gets it when its body is read', async () => {
  const rig = await startRig(async (request, response) => response.end(await text(request)));
  const request = upload(rig, { expect: '100-continue', 'content-length': '4' });
  request.flushHeaders();
  await once(request, 'continue');
  request.end('body');
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  expect(await text(response)).toBe('body');
});

test('a refused upload that waits for 100 Continue never sends its body', async () => {
  const rig = await refusingRig();
  const request = upload(rig, { expect: '100-continue', 'content-length': '1000000' });
  request.on('continue', () => expect.unreachable());
  request.flushHeaders();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  expect(response).toMatchObject({ statusCode: 413, headers: { connection: 'close' } });
  response.resume();
});

test('a kept connection that the origin is just closing is replaced without an error', async () => {
  const served = new WeakSet<Socket>();
  const rig = await startRig((request, response) => {
    if (served.has(request.socket)) {
      request.socket.destroy();
      return;
    }
    served.add(request.socket);
    response.end('ok');
  });
  for (const _time of [1, 2, 3]) expect((await ask(rig, '/')).text).toBe('ok');
});

test('uploads go over one kept connection, until the origin answers before it has the whole body', async () => {
  const connections = new Set<Socket>();
  const rig = await startRig((request, response) => {
    connections.add(request.socket);
    if (request.url === '/refused') response.writeHead(413).end('too large');
    else request.on('end', () => response.end('stored')).resume();
  });
  const send = async (path: string, more: number) => {
    const sent = httpRequest({
      host: '127.0.0.1',
      port: rig.port,
      path,
      method: 'POST',
      headers: { 'content-length': 4 + more },
    });
    sent.write('part');
    if (more === 0) sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    if (more > 0) sent.end(Buffer.alloc(more));
    return text(response);
  };
  for (const _time of [1, 2, 3]) expect(await send('/', 0)).toBe('stored');
  expect(connections.size).toBe(1);
  expect(await send('/refused', 1_000)).toBe('too large');
  expect(await send('/', 0)).toBe('stored');
  expect(connections.size).toBe(2);
});

test('a closed distribution ends every connection', async () => {
  const rig = await startRig(() => {});
  const waiting = ask(rig, '/').catch((error: Error) => error);
  await setImmediate();
  expect(rig.log).toEqual([]);
  await rig.close();
  expect(await waiting).toBeInstanceOf(Error);
});
