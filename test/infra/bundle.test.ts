import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { ENTRIES } from '../../infra/bundle/entries.ts';
import { getEndpointDiscoveryPlugin } from '../../infra/bundle/no-endpoint-discovery.ts';
import { EventStreamSerde } from '../../infra/bundle/no-event-streams.ts';
import sizes from '../../infra/bundle/sizes.json' with { type: 'json' };

const GROWTH_MAX = 1.05;

describe.each(Object.keys(ENTRIES))('the bundle of %s', (name) => {
  const code = readFileSync(join(inject('assembly'), 'bundles', name, 'index.js'));

  test('contains no dynamic import, which would load undici', () => {
    expect(code.toString().match(/\bimport\(.{0,30}/g)).toBeNull();
  });

  test("does not contain the SDK's search for credentials", () => {
    expect(code.includes('AWS_WEB_IDENTITY_TOKEN_FILE')).toBe(false);
  });

  test('has not grown by 5 %: if it should, run `npm run generate`', () => {
    const recorded = (sizes as Readonly<Record<string, number>>)[name] ?? 0;
    expect(code.byteLength).toBeLessThan(recorded * GROWTH_MAX);
  });
});

test('an operation with an event stream, which bundles do not contain, fails and says why', () => {
  expect(() => new EventStreamSerde()).toThrow('this bundle has no event streams');
});

test('an operation with endpoint discovery, which bundles do not contain, fails and says why', () => {
  expect(() => getEndpointDiscoveryPlugin()).toThrow('this bundle has no endpoint discovery');
});
