import { type Check, NotTried } from './check.ts';
import { randomContent } from './content.ts';
import { type Ask, exchange } from './http.ts';
import { expectCommonHeaders, expectError, formOf, framingBytes } from './service.ts';

const MIB = 1024 * 1024;
const NAME = 'smoke.bin';
/** An invalid key in the right format, so that the edge lets it through. */
const INVALID_KEY = { authorization: `Bearer svc_live_${'0'.repeat(49)}` };

/** A client whose body is rejected receives the error, not a broken connection, even when the body is large. */
export const REFUSAL_CHECKS: readonly Check[] = [
  ...(['length', 'chunked', 'expect'] as const).map(
    (framing) =>
      ({
        name: `25 MiB with an invalid key is 401 (${framing})`,
        async run({ service, isStreaming }) {
          if (!isStreaming) throw new NotTried('the service has no streaming function');
          const { headers, ...ask } = formOf(NAME, randomContent(25 * MIB), framing);
          expectError(
            await exchange(`${service.baseUrl}/files`, { ...ask, headers: { ...headers, ...INVALID_KEY } }),
            401,
            'unauthorized',
          );
          return undefined;
        },
      }) satisfies Check,
  ),
  {
    name: '25 MiB without a key is 401, and the answer of the edge has each header once',
    async run({ service }) {
      const answer = await exchange(`${service.baseUrl}/files`, formOf(NAME, randomContent(25 * MIB)));
      expectError(answer, 401, 'unauthorized');
      expectCommonHeaders(answer);
      return undefined;
    },
  },
  {
    name: 'a file one byte over MAX_UPLOAD_SIZE_BYTES is 413',
    async run({ service, maxUploadBytes, largestBytes }) {
      if (maxUploadBytes > largestBytes) throw new NotTried('the file is larger than --largest-mib');
      const ask = formOf(NAME, randomContent(maxUploadBytes + 1));
      expectError(await service.ask('/files', ask), 413, 'file_too_large');
      return undefined;
    },
  },
  {
    name: 'a body far over MAX_UPLOAD_SIZE_BYTES is 413',
    async run({ service, maxUploadBytes }) {
      const ask = formOf(NAME, randomContent(maxUploadBytes + 2 * MIB - framingBytes(NAME)));
      expectError(await service.ask('/files', ask), 413, 'file_too_large');
      return undefined;
    },
  },
  {
    name: 'a large body that is not a form is 415',
    async run({ service }) {
      const ask: Ask = {
        method: 'POST',
        headers: { 'content-type': 'application/octet-stream' },
        body: randomContent(11 * MIB),
      };
      expectError(await service.ask('/files', ask), 415, 'unsupported_media_type');
      return undefined;
    },
  },
  {
    name: 'an incomplete form is 400',
    async run({ service }) {
      const { body, ...ask } = formOf(NAME, randomContent(100));
      const cut = [...(body?.pieces() ?? [])].slice(0, 2);
      const length = cut.reduce((sum, { length: bytes }) => sum + bytes, 0);
      const content = { length, pieces: () => cut, sha256: () => '' };
      expectError(await service.ask('/files', { ...ask, body: content }), 400, 'invalid_request');
      return undefined;
    },
  },
];
