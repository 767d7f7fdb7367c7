import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

const ACCOUNT = '01980000-0000-7000-8000-000000000000';
export const FILE = '01980000-0000-7000-8000-000000000001';

/** A key and a file, as the tables hold them. */
const ROWS: Readonly<Record<string, object>> = {
  API_KEYS_TABLE: {
    id: { S: FILE },
    account_id: { S: ACCOUNT },
    name: { S: 'bench' },
    key_prefix: { S: 'svc_live_abc' },
    created_at: { N: '1790000000000' },
    // The use of a key is noted at most once a minute after this time. It is far in the future, so no use is noted.
    last_used_at: { N: '4000000000000' },
  },
  FILES_TABLE: {
    account_id: { S: ACCOUNT },
    id: { S: FILE },
    state: { S: 'ready' },
    via: { S: 'form' },
    name: { S: 'photo.jpg' },
    mime_type: { S: 'image/jpeg' },
    size_bytes: { N: '48213' },
    object_key: { S: 'uploads/abcdefghijklmnopqrstuv/photo.jpg' },
    created_at: { N: '1790000000000' },
    seq: { N: '17' },
  },
};
/** The window of a rate limit, with 72 slots. Each slot stands for several requests, and the newest slot has room for more. */
const SLOTS = 72;
const WINDOW = {
  l: { L: [...Array.from({ length: SLOTS - 1 }, () => ({ N: '0' })), { N: '99999999999' }] },
  u: { L: Array.from({ length: SLOTS }, () => ({ N: '3' })) },
  c: { N: '2' },
};

/**
 * Starts a server that answers the calls of a function at once, with the same rows each time. So a benchmark measures the function,
 * not AWS.
 */
export async function startCannedAws(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const operation = String(request.headers['x-amz-target']).split('.')[1];
    response.setHeader('Content-Type', 'application/x-amz-json-1.0');
    // This is a call to the storage, for which an empty answer means success.
    if (operation === undefined) return void response.end();
    const { TableName = '' } = JSON.parse(body) as { TableName?: string };
    response.end(JSON.stringify(operation === 'GetItem' ? { Item: ROWS[TableName] } : { Attributes: WINDOW }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
