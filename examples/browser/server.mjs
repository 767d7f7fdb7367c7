import { createReadStream } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';

/**
 * The server of a page that uploads. It adds your API key to the requests of the page and forwards them to the service: forms, requests
 * for direct uploads, the requests that complete them, and those that read or delete one file. So the page never sees the key. The bytes
 * of direct uploads go from the page to the storage, not through this server.
 * `PAGE` is the folder of the page.
 */

const { FILE_HOSTING_URL, FILE_HOSTING_KEY, PAGE = '.', PORT = '3000' } = process.env;
if (!URL.canParse(FILE_HOSTING_URL) || !FILE_HOSTING_KEY) {
  console.error('Set FILE_HOSTING_URL to the address of the service, and FILE_HOSTING_KEY to an API key.');
  process.exit(1);
}

/**
 * The requests that are forwarded; our client begins their paths with `/api/v1`. Requests for lists are not forwarded, because a list has
 * the files of everyone who uses the page.
 */
const PASSED_ON =
  /^(POST \/(files|uploads)|POST \/uploads\/[\w-]+\/complete|GET \/files\/[\w-]+|DELETE \/(files|uploads)\/[\w-]+)$/;
const HEADERS = ['content-type', 'content-length', 'transfer-encoding', 'idempotency-key'];
/** From these the client learns when it may send the next request, and what to repeat. */
const ANSWER_HEADERS = [
  ...['content-type', 'content-length', 'date', 'retry-after', 'ratelimit', 'ratelimit-policy'],
  ...['idempotency-replayed', 'x-request-id', 'x-amz-cf-id'],
];
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

const server = createServer((request, response) => {
  const { method, url = '/' } = request;
  const [path] = url.split('?');
  if (!['GET', 'HEAD'].includes(method) && !isOfOurPage(request)) return refuse(response, 403, 'forbidden');
  // Here you check whether this person may upload, and read or delete this file.
  const passed = path.replace(/^\/api\/v1(?=\/)/, '');
  if (PASSED_ON.test(`${method} ${passed}`)) return passOn(request, response, `/api/v1${passed}`);
  const name = path === '/' ? '/index.html' : path;
  if (!/^\/[\w-]+\.(html|js|css)$/.test(name)) return refuse(response, 404, 'not_found');
  const file = createReadStream(join(PAGE, name));
  file.once('open', () => response.setHeader('content-type', TYPES[name.slice(name.lastIndexOf('.'))]));
  file.once('error', () => refuse(response, 404, 'not_found'));
  // When a visitor disconnects during the answer, the file must be closed.
  file.pipe(response).once('close', () => file.destroy());
});

/** A page of another site must not use the key through the browser of a person who can reach this server. */
function isOfOurPage({ headers }) {
  const { origin, host, 'sec-fetch-site': site = 'same-origin' } = headers;
  return site === 'same-origin' && (origin === undefined || origin.endsWith(`//${host}`));
}

function passOn(request, response, path) {
  const authorization = `Bearer ${FILE_HOSTING_KEY.trim()}`;
  const address = new URL(path, FILE_HOSTING_URL);
  const send = address.protocol === 'https:' ? httpsRequest : httpRequest;
  const options = { method: request.method, headers: { ...only(HEADERS, request.headers), authorization } };
  const passed = send(address, options, (answer) => {
    response.writeHead(answer.statusCode, only(ANSWER_HEADERS, answer.headers));
    // An answer that breaks off must not look complete.
    answer.once('error', () => response.destroy());
    answer.pipe(response);
  });
  // The service cannot be reached, or has hung up.
  passed.once('error', () => refuse(response, 503, 'service_unavailable'));
  request.pipe(passed);
  // When the visitor disconnects, the service must not wait for the rest of the upload.
  response.once('close', () => passed.destroy());
}

function only(names, headers) {
  return Object.fromEntries(names.filter((name) => headers[name]).map((name) => [name, headers[name]]));
}

/** Answers as the service does, unless an answer has begun. */
function refuse(response, status, error) {
  if (response.headersSent) return;
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
}

server.once('error', ({ message }) => {
  console.error(message);
  process.exitCode = 1;
});
// Listens on this machine only. Before you change this, add the check above of who may upload.
server.listen(Number(PORT), 'localhost', () => console.log(`http://localhost:${server.address().port}`));
