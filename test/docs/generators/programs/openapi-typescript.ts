// Uses the types that openapi-typescript makes, with openapi-fetch. It prints each step that has worked.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import createClient from 'openapi-fetch';
import type { paths } from './client';

const { FILE_HOSTING_URL: baseUrl = '', FILE_HOSTING_KEY: key = '', FILE: path = '' } = process.env;
const name = basename(path);
const content = await readFile(path);
const api = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });

const { data: file } = await api.POST('/api/v1/files', {
  body: { file: name },
  bodySerializer() {
    const form = new FormData();
    form.append('file', new File([content], name));
    return form;
  },
});
assert(file);
assert.deepEqual([file.name, file.size_bytes], [name, content.length]);
console.log('upload');

const { data: page } = await api.GET('/api/v1/files', { params: { query: { limit: 5, search: name } } });
assert.deepEqual(page?.items, [file]);
console.log('list');

const params = { path: { id: file.id } };
assert.deepEqual((await api.GET('/api/v1/files/{id}', { params })).data, file);
console.log('read');

assert(((await api.GET('/api/v1/usage')).data?.sent_today_limit_bytes ?? 0) > 2 ** 32);
console.log('usage');

assert((await api.DELETE('/api/v1/files/{id}', { params })).data?.deleted);
assert.equal((await api.GET('/api/v1/files/{id}', { params })).error?.error, 'not_found');
console.log('delete');

const request = {
  params: { header: { 'Idempotency-Key': 'openapi-typescript' } },
  body: { name, mime_type: 'image/jpeg', size_bytes: content.length },
};
const { data: ticket } = await api.POST('/api/v1/uploads', request);
assert(ticket?.upload);
const { method, url, headers } = ticket.upload;
assert((await fetch(url, { method, headers, body: content })).ok);
const { data: complete } = await api.POST('/api/v1/uploads/{id}/complete', { params: { path: { id: ticket.id } } });
assert(complete);
assert.deepEqual((await api.POST('/api/v1/uploads', request)).data?.file, complete);
console.log('ticket');
