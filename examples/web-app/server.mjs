import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { FileHosting } from 'file-hosting-client';

/**
 * The back end of a web app whose page uploads. This server has the API key: it creates a ticket for each upload, and makes a file of it when
 * the page has sent the bytes. The bytes go from the page to the storage, not through this server. `PAGE` is the folder of the page.
 */

const { PAGE = '.', PORT = '3000' } = process.env;
const hosting = new FileHosting();
/** The tickets that this server has created, so that nobody completes the upload of another. Yours belong to persons. */
const tickets = new Set();

const ROUTES = {
  'GET /': async () => ({ type: 'text/html', body: await readFile(join(PAGE, 'index.html')) }),
  'GET /page.js': async () => ({ type: 'text/javascript', body: await readFile(join(PAGE, 'page.js')) }),
  'POST /tickets': async (request) => {
    const { name, type, size } = await json(request);
    const ticket = await hosting.createTicket({ name: String(name), type: String(type), size: Number(size) });
    tickets.add(ticket.id);
    return answer(ticket);
  },
  'POST /complete': async (request) => {
    const { id } = await json(request);
    if (!tickets.has(id)) return answer({ error: 'There is no such ticket' }, 404);
    const file = await hosting.complete(id);
    tickets.delete(id);
    return answer(file);
  },
  'POST /cancel': async (request) => {
    const { id } = await json(request);
    if (tickets.delete(id)) await hosting.cancel(id);
    return answer({});
  },
};

const answer = (body, status = 200) => ({ type: 'application/json', body: JSON.stringify(body), status });

const server = createServer(async (request, response) => {
  // Here you check who this person is, and whether the person may upload.
  const isOurs = (request.headers['sec-fetch-site'] ?? 'same-origin') === 'same-origin' || request.method === 'GET';
  const route = isOurs ? ROUTES[`${request.method} ${request.url}`] : undefined;
  const failed = ({ message, status }) =>
    answer({ error: message }, status === undefined || status >= 500 ? 502 : status);
  const { type, body, status = 200 } = route ? await route(request).catch(failed) : answer({ error: 'Not found' }, 404);
  response.writeHead(status, { 'content-type': type }).end(body);
});
// Listens on this machine only. Before you change this, add the check above.
server.listen(Number(PORT), 'localhost', () => console.log(`http://localhost:${server.address().port}`));
