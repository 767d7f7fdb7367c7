import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { type Pace, PacedBody } from '../../../functions/upload-stream/paced-body.ts';
import { serviceUnavailable } from '../../../shared/errors.ts';

const LATER = Number.MAX_SAFE_INTEGER;
const LENIENT: Pace = {
  maxBytes: 1_000_000,
  minBytesPerSecond: 1,
  graceMs: 60_000,
  deadlineAt: LATER,
};

let server: Server;
let socket: Socket;
afterEach(() => {
  vi.useRealTimers();
  socket.destroy();
  server.close();
});

/** A client that has begun a body of 1,000 bytes, and the server's view of it. */
async function begin(pace: Partial<Pace>): Promise<{ body: PacedBody; send: (bytes: number) => void }> {
  server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n');
  const [request] = (await once(server, 'request')) as [IncomingMessage];
  return { body: new PacedBody(request, { ...LENIENT, ...pace }), send: (bytes) => socket.write('x'.repeat(bytes)) };
}

async function lengthOf(body: PacedBody): Promise<number> {
  let bytes = 0;
  for await (const chunk of body) bytes += chunk.length;
  return bytes;
}

test('a body that keeps its pace is read to its end', async () => {
  const { body, send } = await begin({});
  send(400);
  const reading = lengthOf(body);
  send(600);
  expect(await reading).toBe(1_000);
  expect(await body.drain(LATER)).toBe(true);
});

test('a client that sends nothing is too slow after the grace', async () => {
  const { body } = await begin({ graceMs: 50 });
  await expect(lengthOf(body)).rejects.toMatchObject({ code: 'timeout' });
});

test('a client that was fast may not pause longer than any other', async () => {
  const { body, send } = await begin({ graceMs: 50 });
  // The required rate is one byte per second, so the client is fifteen minutes ahead of that rate.
  send(900);
  await expect(lengthOf(body)).rejects.toMatchObject({ code: 'timeout' });
});

test('a client that sends byte by byte is too slow, although each byte arrives within the grace', async () => {
  const { body, send } = await begin({ graceMs: 2_000, minBytesPerSecond: 1_000_000 });
  const trickle = setInterval(() => send(1), 20);
  await expect(lengthOf(body)).rejects.toMatchObject({ code: 'timeout' });
  clearInterval(trickle);
});

test('the time that the reader takes does not count against the client', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { body, send } = await begin({ minBytesPerSecond: 1_000 });
  send(10);
  const chunks = body[Symbol.asyncIterator]();
  await chunks.next();
  // S3 may take longer to store a part than a client may pause. Meanwhile the server reads nothing from the client.
  vi.setSystemTime(Date.now() + 2 * LENIENT.graceMs);
  const rest = chunks.next();
  send(990);
  expect((await rest).value).toHaveLength(990);
});

test.each([
  ['sends nothing', 0],
  ['sends steadily', 1],
])('the deadline ends the body of a client that %s', async (_, bytes) => {
  const { body, send } = await begin({ deadlineAt: Date.now() + 50 });
  const sending = setInterval(() => send(bytes), 10);
  await expect(lengthOf(body)).rejects.toMatchObject({ code: 'timeout' });
  clearInterval(sending);
});

test('a body that is too long is file_too_large, and can be drained', async () => {
  const { body, send } = await begin({ maxBytes: 250 });
  send(251);
  await expect(lengthOf(body)).rejects.toMatchObject({ code: 'file_too_large' });
  send(748);
  const draining = body.drain(LATER);
  send(1);
  expect(await draining).toBe(true);
});

test('a body that is too long to be drained is cut', async () => {
  const { body, send } = await begin({ maxBytes: 99 });
  send(100);
  await expect(lengthOf(body)).rejects.toMatchObject({ code: 'file_too_large' });
  send(300);
  expect(await body.drain(LATER)).toBe(false);
});

test('a body whose connection breaks is invalid_request, and cannot be drained', async () => {
  const { body, send } = await begin({});
  send(100);
  const reading = lengthOf(body);
  socket.destroy();
  await expect(reading).rejects.toMatchObject({ code: 'invalid_request' });
  expect(await body.drain(LATER)).toBe(false);
});

test.each([
  ['that is given', () => [LATER, Date.now() + 50]],
  ['of the body, if that is earlier', () => [Date.now() + 50, LATER]],
] as const)('draining the unread rest of a body ends at the deadline %s', async (_, deadlines) => {
  const [deadlineAt, drainBy] = deadlines() as [number, number];
  const { body } = await begin({ deadlineAt });
  expect(await body.drain(drainBy)).toBe(false);
});

test('the unread rest of a body is drained to the end', async () => {
  const { body, send } = await begin({});
  send(100);
  await body[Symbol.asyncIterator]().next();
  const draining = body.drain(LATER);
  send(900);
  expect(await draining).toBe(true);
});

test('a body that is cut fails for its waiting reader, and ends the connection', async () => {
  const { body, send } = await begin({});
  send(100);
  const reading = lengthOf(body);
  await expect.poll(() => body.bytes).toBe(100);
  // The connection may end with a reset, which is an error to the client, and to `once`.
  socket.on('error', () => {});
  const hasEnded = new Promise((resolve) => socket.on('close', resolve));
  body.cut(serviceUnavailable());
  await expect(reading).rejects.toMatchObject({ code: 'service_unavailable' });
  await hasEnded;
  expect(await body.drain(LATER)).toBe(false);
});

test('the rate of a body is infinite until it is known, and includes the current wait', async () => {
  const { body } = await begin({});
  expect(body.bytesPerSecond).toBe(Number.POSITIVE_INFINITY);
  const reading = lengthOf(body);
  await expect.poll(() => body.bytesPerSecond, { timeout: 20_000 }).toBe(0);
  body.cut(serviceUnavailable());
  await expect(reading).rejects.toThrow();
});
