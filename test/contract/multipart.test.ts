import { afterAll, describe, expect, test } from 'vitest';
import { expectNoTrace } from '../support/expect-no-trace.ts';
import { FORM, filePart, part } from '../support/forms.ts';
import { borrowTestService } from '../support/service.ts';
import { IS_THOROUGH } from '../support/thorough.ts';

const service = await borrowTestService();
const account = await service.newAccount();
afterAll(() => service.close());

/** Sends a form as the raw text `body`. */
function send(body: string, { type = FORM, by = account } = {}) {
  return by.byKey.request('POST', '/files', { body, headers: { 'content-type': type } });
}

describe('contract: multipart', () => {
  test('a body cut anywhere before the end of its closing delimiter is 400 and stores nothing', async () => {
    const fresh = await service.newAccount();
    const field = part('Content-Disposition: form-data; name="t"', 'x');
    const typed = part('Content-Disposition: form-data; name="t"\r\nContent-Type: application/json', '{}');
    const whole = `${typed}${filePart()}${field}--B--`;
    // By default the body is cut at every fifth byte, and at the last four, which end the closing delimiter. test/shared/upload-form tests
    // the parser alone, with cuts at every byte.
    const lengths = [...whole].flatMap((_, at) => (IS_THOROUGH || at % 5 === 0 || at > whole.length - 5 ? at : []));
    for (const length of lengths) {
      const { status, body } = await send(whole.slice(0, length), { by: fresh });
      expect({ length, status, body }).toEqual({ length, status: 400, body: { error: 'invalid_request' } });
    }
    await expectNoTrace(service, fresh);
    expect((await send(whole, { by: fresh })).status).toBe(201);
  });

  test.for([
    ['1 byte', 201, 'b'],
    ['70 bytes', 201, 'b'.repeat(70)],
    ['71 bytes', 400, 'b'.repeat(71)],
    ['0 bytes', 400, ''],
    ['every legal character', 201, `"09AZaz'()+_,-./:=? ?"`],
    ['an illegal character', 400, '"a@b"'],
  ] as const)('a form with a boundary of %s is %i', async ([, status, boundary]) => {
    const delimiter = `--${boundary.replaceAll('"', '')}`;
    const type = `multipart/form-data; charset=utf-8; boundary=${boundary}`;
    expect((await send(`${filePart()}--B--`.replaceAll('--B', delimiter), { type })).status).toBe(status);
  });

  test('a form without a boundary is 400', async () => {
    expect((await send(`${filePart()}--B--`, { type: 'multipart/form-data' })).status).toBe(400);
  });

  test('preamble and epilogue of a form are ignored', async () => {
    const { status, body } = await send(`preamble\r\n${filePart()}--B--\r\nepilogue`);
    expect([status, body.size_bytes]).toEqual([201, 7]);
  });

  test.for([
    ['filename*', `filename="plain.txt"; filename*=UTF-8''na%C3%AFve.txt`, 'naïve.txt'],
    ['filename* before filename', `filename*=UTF-8''na%C3%AFve.txt; filename="plain.txt"`, 'naïve.txt'],
    ['filename* alone', `filename*=UTF-8''na%C3%AFve.txt`, 'naïve.txt'],
    ['quoted filename*', `filename="plain.txt"; filename*=UTF-8''%22na%C3%AFve.txt%22`, 'naïve.txt'],
    ['an encoded word', 'filename="=?utf-8?B?0L/RgNC40LLQtdGCLnR4dA==?="', 'привет.txt'],
    ['encoded words of another charset', 'filename="=?koi8-r?Q?=D0=D2?= =?koi8-r?B?ydfF1C50eHQ=?="', 'привет.txt'],
    ["browsers' escapes", 'filename="a%22b%0D%0Ac%20d.txt"', 'a"bc%20d.txt'],
    ['UTF-8', 'filename="文件.txt"', '文件.txt'],
    ['a header without quotes', 'filename=a.txt', 'a.txt'],
  ] as const)('a file name in %s is understood', async ([, filename, name]) => {
    expect((await send(`${part(`Content-Disposition: form-data; ${filename}; name=f`)}--B--`)).body.name).toBe(name);
  });

  test('a file name that is not valid UTF-8 is read as windows-1252', async () => {
    const body = Buffer.from(
      `${part('Content-Disposition: form-data; name="f"; filename="fa\xe7ade 5\x80.txt"')}--B--`,
      'latin1',
    );
    const answer = await account.byKey.request('POST', '/files', { body, headers: { 'content-type': FORM } });
    expect([answer.status, answer.body.name]).toEqual([201, 'façade 5€.txt']);
  });

  test.for([
    'Content-Transfer-Encoding: base64',
    'Content-Transfer-Encoding: quoted-printable',
    'Content-Encoding: gzip',
    'Content-Type: multipart/mixed; boundary=C',
  ])('a file part with %s is 400 and stores nothing', async (header) => {
    const fresh = await service.newAccount();
    const disposition = 'Content-Disposition: form-data; name="f"';
    const unnamed = header.startsWith('Content-Type') ? '' : 'Content-Type: image/png\r\n';
    for (const head of [`${disposition}; filename="a.txt"\r\n${header}`, `${disposition}\r\n${unnamed}${header}`]) {
      const { status, body } = await send(`${part(head, 'Y29udGVudA==')}--B--`, { by: fresh });
      expect([status, body]).toEqual([400, { error: 'invalid_request' }]);
    }
    await expectNoTrace(service, fresh);
  });

  test.for(['binary', '8bit', '7bit'])(
    'a file part with Content-Transfer-Encoding: %s is stored unchanged',
    async (it) => {
      const head = `Content-Disposition: form-data; name="f"; filename="a.txt"\r\nContent-Transfer-Encoding: ${it}`;
      const { status, body } = await send(`${part(head, 'Y29udGVudA==')}--B--`);
      expect(status).toBe(201);
      expect(await (await fetch(String(body.url))).text()).toBe('Y29udGVudA==');
    },
  );

  test('a form without a Content-Length is accepted', async () => {
    const content = 'y'.repeat(300_000);
    const form = new Blob([`${filePart(content)}--B--\r\n`]).stream();
    const init = { body: form, duplex: 'half', headers: { 'content-type': FORM } } as const;
    const { status, body } = await account.byKey.request('POST', '/files', init);
    expect([status, body.size_bytes]).toEqual([201, 300_000]);
  });
});
