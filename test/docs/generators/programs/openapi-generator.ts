// Uses the client that openapi-generator makes for TypeScript. It prints each step that has worked.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { Configuration, DirectUploadsApi, ErrorAnswerFromJSON, FilesApi, ResponseError, UsageApi } from './client';

const { FILE_HOSTING_URL: basePath = '', FILE_HOSTING_KEY: accessToken = '', FILE: path = '' } = process.env;
const name = basename(path);
const content = await readFile(path);
const configuration = new Configuration({ basePath, accessToken });
const files = new FilesApi(configuration);
const uploads = new DirectUploadsApi(configuration);

const file = await files.uploadFile({ file: new File([content], name) });
assert.deepEqual([file.name, file.sizeBytes], [name, content.length]);
console.log('upload');

assert.deepEqual((await files.listFiles({ limit: 5, search: name })).items, [file]);
console.log('list');

assert.deepEqual(await files.getFile({ id: file.id }), file);
console.log('read');

assert((await new UsageApi(configuration).getUsage()).sentTodayLimitBytes > 2 ** 32);
console.log('usage');

assert((await files.deleteFile({ id: file.id })).deleted);
const refused = await files.getFile({ id: file.id }).catch((error: unknown) => error);
assert(refused instanceof ResponseError);
assert.equal(ErrorAnswerFromJSON(await refused.response.json()).error, 'not_found');
console.log('delete');

const ticketRequest = { name, mimeType: 'image/jpeg', sizeBytes: content.length };
const request = { ticketRequest, idempotencyKey: 'openapi-generator' };
const ticket = await uploads.createUpload(request);
assert(ticket.upload);
const { method, url, headers } = ticket.upload;
assert((await fetch(url, { method, headers, body: content })).ok);
const complete = await uploads.completeUpload({ id: ticket.id });
assert.deepEqual((await uploads.createUpload(request)).file, complete);
console.log('ticket');
