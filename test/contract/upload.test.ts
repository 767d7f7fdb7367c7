import { request as httpRequest } from 'node:http';
import { afterAll, describe, expect, test } from 'vitest';
import { MULTIPART_FRAMING_MAX_BYTES } from '../../shared/contract/limits.ts';
import { expectNoTrace } from '../support/expect-no-trace.ts';
import { FORM, filePart, part } from '../support/forms.ts';
import { startTestService } from '../support/service.ts';

const MAX_BYTES = 5_000_000;
const STORAGE_BYTES = 40_000_000;

const service = await startTestService({
  MAX_UPLOAD_SIZE_BYTES: String(MAX_BYTES),
  STORAGE_LIMIT_BYTES: String(STORAGE_BYTES),
  RATE_LIMIT_UPLOADS_PER_MINUTE: '10000',
  RATE_LIMIT_REQUESTS_PER_MINUTE: '10000',
});
const account = await service.newAccount();
afterAll(() => service.close());

/** Sends a form as the raw text `body`. */
function send(body: string, { type = FORM, by = account } = {}) {
  return by.byKey.request('POST', '/files', { body, headers: { 'content-type': type } });
}

describe('contract: upload form', () => {
  test.for(['file', 'files[]', 'sharex', 'filepond', '', '__proto__', 'constructor'])(
    'the field name of the file may be "%s"',
    async (name) => {
      const body = `${part(`Content-Disposition: form-data; name="${name}"; filename="a.txt"`)}--B--`;
      expect((await send(body)).status).toBe(201);
    },
  );

  test('text parts before and after the file, and unselected inputs, are ignored', async () => {
    const unselected = part(
      'Content-Disposition: form-data; name="u"; filename=""\r\nContent-Type: application/octet-stream',
      '',
    );
    const note = part('Content-Disposition: form-data; name="note"', 'hello');
    const { status, body } = await send(`${note}${unselected}${filePart()}${note}--B--`);
    expect(status).toBe(201);
    expect(body).toMatchObject({ name: 'a.txt', size_bytes: 7 });
  });

  test('a part with an empty file name is the file when it has content', async () => {
    const { status, body } = await send(`${part('Content-Disposition: form-data; name="u"; filename=""', 'x')}--B--`);
    expect([status, body.size_bytes]).toEqual([201, 1]);
  });

  test.for([
    ['image/png', 'file.png'],
    ['application/json; charset=utf-8', 'file.json'],
    ['text/plainer', 'file'],
  ] as const)('a part without a filename is a file when its type is %s', async ([type, name]) => {
    const unnamed = part(`Content-Disposition: form-data; name="blob"\r\nContent-Type: ${type}`);
    const { status, body } = await send(`${unnamed}--B--`);
    expect([status, body.name]).toEqual([201, name]);
  });

  test.for(['text/plain', 'Text/Plain; charset=utf-8'])(
    'a part without a filename is a field when its type is %s',
    async (type) => {
      const field = part(`Content-Disposition: form-data; name="note"\r\nContent-Type: ${type}`);
      expect((await send(`${field}--B--`)).status).toBe(400);
      expect((await send(`${field}${filePart()}--B--`)).body.name).toBe('a.txt');
    },
  );

  const META = part('Content-Disposition: form-data; name="meta"\r\nContent-Type: application/json', '{"a":1}');
  const unnamed = (content: string) =>
    part('Content-Disposition: form-data; name="blob"\r\nContent-Type: image/png', content);

  /** Sends a form through both lanes: with a Content-Length through the gateway, and without one through the streaming server. */
  async function sendBoth(key: string, body: string): Promise<{ status: number; body: string }[]> {
    const headers = { authorization: `Bearer ${key}`, 'content-type': FORM };
    const inline = await fetch(`${service.urls.base_url}/files`, { method: 'POST', headers, body });
    return [{ status: inline.status, body: await inline.text() }, await chunked(key, body)];
  }

  test.for([
    ['before the file', `${META}${filePart()}`],
    ['after the file', `${filePart()}${META}`],
    ['on both sides of the file', `${META}${META}${filePart()}${META}`],
  ] as const)('a part with a type and no filename is a field %s, in either lane', async ([, parts]) => {
    for (const { status, body } of await sendBoth(account.key, `${parts}--B--`)) {
      expect(status).toBe(201);
      expect(JSON.parse(body)).toMatchObject({ name: 'a.txt', size_bytes: 7 });
    }
  });

  test.for([0, 1, MULTIPART_FRAMING_MAX_BYTES - 1_000, MULTIPART_FRAMING_MAX_BYTES, 3_000_000])(
    'a part of %i bytes with a type is the file when no part has a filename, in either lane',
    async (size) => {
      const fresh = await service.newAccount();
      const content = 'p'.repeat(size);
      const note = part('Content-Disposition: form-data; name="note"', 'hello');
      for (const { status, body } of await sendBoth(fresh.key, `${note}${unnamed(content)}${note}--B--`)) {
        expect(status).toBe(201);
        const file = JSON.parse(body);
        expect(file).toMatchObject({ name: 'file.png', mime_type: 'image/png', size_bytes: size });
        expect((await (await fetch(file.url)).text()) === content).toBe(true);
      }
      expect(await service.storedBytes(fresh.id)).toBe(2 * size);
    },
  );

  test.for([
    ['two typed parts and no filename', `${META}${unnamed('x')}`],
    ['a typed part too large for a field before the file', `${unnamed('x'.repeat(1_100_000))}${filePart()}`],
    ['a typed part too large for a field after the file', `${filePart()}${unnamed('x'.repeat(1_100_000))}`],
    ['two typed parts, one of them too large for a field,', `${unnamed('x'.repeat(1_100_000))}${META}`],
  ] as const)('a form of %s is 400 in either lane, and stores nothing', async ([, parts]) => {
    const fresh = await service.newAccount();
    for (const { status, body } of await sendBoth(fresh.key, `${parts}--B--`)) {
      expect([status, body]).toEqual([400, '{"error":"invalid_request"}']);
    }
    await expectNoTrace(service, fresh);
  });

  test('an empty file is stored', async () => {
    const { status, body } = await send(`${filePart('')}--B--`);
    expect([status, body.size_bytes]).toEqual([201, 0]);
    const link = await fetch(String(body.url));
    expect([link.status, await link.text()]).toEqual([200, '']);
  });

  test('a form with two files is 400, and neither is stored', async () => {
    const fresh = await service.newAccount();
    const answer = await send(`${filePart()}${filePart()}--B--`, { by: fresh });
    expect([answer.status, answer.body]).toEqual([400, { error: 'invalid_request' }]);
    await expectNoTrace(service, fresh);
  });

  test('a form without a file is 400', async () => {
    expect((await send(`${part('Content-Disposition: form-data; name="a"')}--B--`)).status).toBe(400);
    expect((await send('--B--')).status).toBe(400);
    expect((await send('')).status).toBe(400);
  });
});

describe('contract: name', () => {
  test.for([
    ['with a path loses the path', '../../etc/passwd', 'passwd'],
    ['with a path of Windows loses the path', 'C:\\dir\\report.pdf', 'report.pdf'],
    ['in any script is kept', 'naïve – 文件.txt', 'naïve – 文件.txt'],
    ['is stored in NFC', 'e\u0301.txt', 'é.txt'],
    ['loses marks that turn the direction of text', 'a\u202Egpj.exe', 'agpj.exe'],
    ['of 254 bytes is kept', `${'x'.repeat(250)}.txt`, `${'x'.repeat(250)}.txt`],
    ['of 255 bytes is kept', `${'x'.repeat(251)}.txt`, `${'x'.repeat(251)}.txt`],
    ['of 256 bytes is cut to 255 before its extension', `${'x'.repeat(252)}.txt`, `${'x'.repeat(251)}.txt`],
    ['of 305 bytes is cut to 255 before its extension', `${'x'.repeat(300)}.jpeg`, `${'x'.repeat(250)}.jpeg`],
    ['of dots alone becomes file.bin', '..', 'file.bin'],
    ['that is only a path becomes file.bin', 'dir/', 'file.bin'],
  ] as const)('a file name %s', async ([, sent, kept]) => {
    const { body } = await account.byKey.upload(sent, 'x');
    expect(body.name).toBe(kept);
    const link = await fetch(String(body.url));
    expect(link.status).toBe(200);
  });
});

describe('contract: mime_type', () => {
  test.for([
    ['the declared type', 'a.bin', 'image/PNG', 'image/png'],
    ['that of the extension when no type is declared', 'a.png', '', 'image/png'],
    ['that of the extension when octet-stream is declared', 'a.png', 'application/octet-stream', 'image/png'],
    ['that of the extension when the declared type is invalid', 'a.png', 'picture', 'image/png'],
    ['octet-stream when the extension is unknown, too', 'a.unknownext', '', 'application/octet-stream'],
    ['the declared type with its charset', 'a.txt', 'text/plain; charset=UTF-8', 'text/plain; charset=utf-8'],
    ['the declared type without an unknown charset', 'a.txt', 'text/plain; charset=utf-7', 'text/plain'],
    ['the declared type without other parameters', 'a.txt', 'text/plain; format=flowed', 'text/plain'],
  ] as const)('the mime_type of a file is %s', async ([, name, type, expected]) => {
    const head = `Content-Disposition: form-data; name="f"; filename="${name}"${type ? `\r\nContent-Type: ${type}` : ''}`;
    expect((await send(`${part(head)}--B--`)).body.mime_type).toBe(expected);
  });
});

describe('contract: file record', () => {
  test('every answer with a file has exactly its six fields', async () => {
    const { body } = await account.byKey.upload('six.txt', 'six');
    expect(Object.keys(body).sort()).toEqual(['created_at', 'id', 'mime_type', 'name', 'size_bytes', 'url']);
    expect(body.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(body.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const list = await account.byKey.request<{ items: object[] }>('GET', '/files?search=six.txt');
    expect(list.body.items).toEqual([body]);
  });
});

describe('contract: url', () => {
  test('the URL of a file has a random token, which is not the id, and the encoded name', async () => {
    const { body } = await account.byKey.upload('a b#?.txt', 'x');
    const [, token, name] = /\/uploads\/([0-9A-Za-z]{22,})\/([^/]+)$/.exec(String(body.url)) ?? [];
    expect(String(body.url).startsWith(`${service.urls.cdn_url}/uploads/`)).toBe(true);
    expect(name).toBe('a%20b%23%3F.txt');
    expect(token).not.toContain(String(body.id).replaceAll('-', ''));
  });

  test('the token alone identifies the file: another name, no name or a query string makes no difference', async () => {
    const { body } = await account.byKey.upload('a.txt', 'same');
    const [link = ''] = /^.*\/uploads\/[^/]+/.exec(String(body.url)) ?? [];
    for (const address of [
      `${link}/a.txt`,
      `${link}/other.html`,
      link,
      `${link}/a.txt?response-content-type=text/html`,
    ]) {
      const answer = await fetch(address);
      const type = answer.headers.get('content-type');
      expect([address, answer.status, type, await answer.text()]).toEqual([
        address,
        200,
        'text/plain; charset=utf-8',
        'same',
      ]);
    }
  });
});

describe('contract: sizes', () => {
  test.for([
    [MAX_BYTES - 1, 201],
    [MAX_BYTES, 201],
    [MAX_BYTES + 1, 413],
  ] as const)('a file of %i bytes is %i, with and without a Content-Length', async ([size, status]) => {
    const fresh = await service.newAccount();
    const { status: got, body } = await fresh.byKey.upload('big.bin', Buffer.alloc(size, 7));
    expect([got, body.error]).toEqual([status, status === 201 ? undefined : 'file_too_large']);
    const rest = await chunked(fresh.key, `${filePart('z'.repeat(size))}--B--`);
    expect(rest.status).toBe(status);
    expect(await service.storedBytes(fresh.id)).toBe(status === 201 ? 2 * size : 0);
  });

  test('a body without a Content-Length that is far too large is 413, and 401 without a valid key', async () => {
    const { key } = await service.newAccount();
    const rest = await chunked(key, `${filePart('z'.repeat(MAX_BYTES + 2_500_000))}--B--`);
    expect([rest.status, rest.body]).toEqual([413, '{"error":"file_too_large"}']);
    const stranger = await chunked(`svc_test_${'0'.repeat(49)}`, `${filePart('z'.repeat(MAX_BYTES + 2_500_000))}--B--`);
    expect([stranger.status, stranger.body]).toEqual([401, '{"error":"unauthorized"}']);
  });

  test('an upload that exactly fits the storage succeeds, and one byte more is 403', async () => {
    const fresh = await service.newAccount();
    for (let stored = 0; stored < STORAGE_BYTES; stored += MAX_BYTES) {
      expect((await fresh.byKey.upload('f', Buffer.alloc(MAX_BYTES))).status).toBe(201);
    }
    const answer = await fresh.byKey.upload('f', 'x');
    expect([answer.status, answer.body]).toEqual([403, { error: 'storage_limit_exceeded' }]);
    expect((await fresh.byKey.upload('empty', '')).status).toBe(201);
  });
});

/** Sends a form in chunks, without a Content-Length. */
function chunked(key: string, body: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': FORM };
    const request = httpRequest(`${service.urls.base_url}/files`, { method: 'POST', headers }, (response) => {
      let text = '';
      response.on('data', (data) => (text += data));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
    });
    request.on('error', reject);
    for (let at = 0; at < body.length; at += 65_536) request.write(body.slice(at, at + 65_536));
    request.end();
  });
}
