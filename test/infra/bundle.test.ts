import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { ENTRIES } from '../../infra/bundle/entries.ts';
import { getEndpointDiscoveryPlugin } from '../../infra/bundle/no-endpoint-discovery.ts';
import { EventStreamSerde } from '../../infra/bundle/no-event-streams.ts';

/** The maximum sizes of the bundles, in bytes: a larger bundle makes the cold start longer (decision 0025). `npm run build` shows each. */
const ALL_MAX = 13_200_000;
const LARGEST_MAX = 840_000;

const read = (name: string) => readFileSync(join(inject('assembly'), 'bundles', name, 'index.js'));

describe.each(Object.keys(ENTRIES))('the bundle of %s', (name) => {
  const code = read(name);

  test('contains no dynamic import, which would load undici', () => {
    expect(code.toString().match(/\bimport\(.{0,30}/g)).toBeNull();
  });

  test("does not contain the SDK's search for credentials", () => {
    expect(code.includes('AWS_WEB_IDENTITY_TOKEN_FILE')).toBe(false);
  });
});

test('the bundles are not larger than a cold start allows: all of them together, and the largest', () => {
  const sizes = Object.keys(ENTRIES).map((name) => read(name).byteLength);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(ALL_MAX);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(LARGEST_MAX);
});

test('only the login and the canary have code that calls an address over HTTP, besides the SDK', () => {
  const calling = Object.keys(ENTRIES).filter((name) => /\bfetch\(/.test(read(name).toString()));
  expect(calling.toSorted()).toEqual(['canary', 'finishLogin', 'startLogin']);
  // Node has other ways as well. The streaming server takes requests by one of them.
  const root = join(import.meta.dirname, '../..');
  const networking = globSync('{functions,shared}/**/*.ts', { cwd: root }).flatMap(
    (file) =>
      readFileSync(join(root, file), 'utf8').match(/^import .*'node:(http|https|http2|net|tls|dgram)';$/gm) ?? [],
  );
  expect(new Set(networking)).toEqual(
    new Set([
      "import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';",
      "import type { IncomingMessage } from 'node:http';",
      "import { isIPv4 } from 'node:net';",
    ]),
  );
});

test('an operation with an event stream, which bundles do not contain, fails and says why', () => {
  expect(() => new EventStreamSerde()).toThrow('this bundle has no event streams');
});

test('an operation with endpoint discovery, which bundles do not contain, fails and says why', () => {
  expect(() => getEndpointDiscoveryPlugin()).toThrow('this bundle has no endpoint discovery');
});
