// Uses the client that hey-api makes. It prints each step that has worked.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { completeUpload, createUpload, deleteFile, getFile, getUsage, listFiles, uploadFile } from './client';
import { client } from './client/client.gen';

const { FILE_HOSTING_URL: baseUrl = '', FILE_HOSTING_KEY: auth = '', FILE: path = '' } = process.env;
const name = basename(path);
const content = await readFile(path);
client.setConfig({ baseUrl, auth });

const { data: file } = await uploadFile({ body: { file: new File([content], name) } });
assert(file);
assert.deepEqual([file.name, Number(file.size_bytes)], [name, content.length]);
console.log('upload');

assert.deepEqual((await listFiles({ query: { limit: 5, search: name } })).data?.items, [file]);
console.log('list');

assert.deepEqual((await getFile({ path: { id: file.id } })).data, file);
console.log('read');

assert(((await getUsage()).data?.sent_today_limit_bytes ?? 0) > 2 ** 32);
console.log('usage');

assert((await deleteFile({ path: { id: file.id } })).data?.deleted);
assert.equal((await getFile({ path: { id: file.id } })).error?.error, 'not_found');
console.log('delete');

const request = {
  headers: { 'Idempotency-Key': 'hey-api' },
  body: { name, mime_type: 'image/jpeg', size_bytes: content.length },
};
const { data: ticket } = await createUpload(request);
assert(ticket?.upload);
const { method, url, headers } = ticket.upload;
assert((await fetch(url, { method, headers, body: content })).ok);
const { data: complete } = await completeUpload({ path: { id: ticket.id } });
assert(complete);
assert.deepEqual((await createUpload(request)).data?.file, complete);
console.log('ticket');
