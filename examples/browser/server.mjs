import { createReadStream } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/**
 * The server of a page that uploads. It adds your API key to the requests of the page and forwards them to the service: forms, requests
 * for direct uploads, and the requests that complete or delete them. So the page never sees the key. The bytes of direct uploads go
 * from the page to the storage, not through this server.
 * `PAGE` is the folder of the page.
 */

const { FILE_HOSTING_URL = '', FILE_HOSTING_KEY = '', PAGE = '.', PORT = '3000' } = process.env;

/** The requests that are forwarded. Requests for lists are not forwarded, because a list has the files of everyone who uses the page. */
const PASSED_ON = /^(POST \/(files|uploads)|POST \/uploads\/[\w-]+\/complete|DELETE \/(files|uploads)\/[\w-]+)$/;
const HEADERS = ['content-type', 'content-length', 'transfer-encoding', 'idempotency-key'];
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

const server = createServer(async (request, response) => {
  const { method, url = '/' } = request;
  // A page of another site must not use the key through the browser of a person who can reach this server.
  const site = request.headers['sec-fetch-site'] ?? 'same-origin';
  if (method !== 'GET' && site !== 'same-origin') return response.writeHead(403).end();
  // Here you check whether this person may upload, and delete this file.
  if (PASSED_ON.test(`${method} ${url}`)) return passOn(request, response);
  const name = url === '/' ? '/index.html' : url;
  if (!/^\/[\w-]+\.(html|js|css)$/.test(name)) return response.writeHead(404).end();
  const file = createReadStream(join(PAGE, name));
  file.once('open', () => response.setHeader('content-type', TYPES[name.slice(name.lastIndexOf('.'))]));
  file.once('error', () => response.headersSent || response.writeHead(404).end());
  // When a visitor disconnects during the answer, the file must be closed.
  file.pipe(response).once('close', () => file.destroy());
});

async function passOn(request, response) {
  const headers = { authorization: `Bearer ${FILE_HOSTING_KEY}` };
  for (const name of HEADERS) if (request.headers[name]) headers[name] = request.headers[name];
  const address = new URL(`/api/v1${request.url}`, FILE_HOSTING_URL);
  const send = address.protocol === 'https:' ? httpsRequest : httpRequest;
  const passed = send(address, { method: request.method, headers }, (answer) => {
    const { 'content-type': type, 'retry-after': wait } = answer.headers;
    response.writeHead(answer.statusCode, { 'content-type': type, ...(wait && { 'retry-after': wait }) });
    pipeline(answer, response).catch(() => {});
  });
  await pipeline(request, passed).catch(() => response.destroy());
}

// Listens on this machine only. Before you change this, add the check above of who may upload.
server.listen(Number(PORT), 'localhost', () => console.log(`http://localhost:${server.address().port}`));
