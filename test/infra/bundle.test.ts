import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { build, transform } from 'esbuild';
import { describe, expect, inject, test } from 'vitest';
import { ENTRIES } from '../../infra/bundle/entries.ts';
import {
  leanSdk,
  REPLACEMENTS,
  replaced,
  withLiteralKeys,
  withoutUnusedErrors,
  withPurePaginators,
} from '../../infra/bundle/lean-sdk.ts';
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

  test("does not contain the SDK's code for configuration files and for web streams", () => {
    expect(code.includes('AWS_CONFIG_FILE')).toBe(false);
    expect(code.includes('ReadableStreamRef')).toBe(false);
  });

  test.each(['RestoreRequest', 'AssociationAlreadyExists', 'BackupInUseException'])(
    'does not contain %s, a schema or an error of the SDK that nothing uses',
    (word) => {
      expect(code.includes(word)).toBe(false);
    },
  );

  test.each([
    ...['randomUUID()', 'hashBufferWith', 'updateClientSendingRate', 'imdsRequest', 'formatHeaderValue'],
    ...['SensitiveInformation', 'devDependencies'],
  ])('does not contain %s, which is only in files of the SDK that bundles leave out', (word) => {
    expect(code.includes(word)).toBe(false);
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

// biome-ignore lint/suspicious/noExplicitAny: the modules are JavaScript, without types.
test.each<[file: string, use: (module: any) => unknown]>([
  ['checksum/ChecksumStream.browser.js', ({ ChecksumStream }) => new ChecksumStream()],
  ['checksum/sha256/Sha256Js.js', ({ Sha256Js }) => new Sha256Js()],
  ['checksums/dist-es/submodules/sha/sha1/Sha1Js.js', ({ Sha1Js }) => new Sha1Js()],
  ['util-retry/AdaptiveRetryStrategy.js', ({ AdaptiveRetryStrategy }) => new AdaptiveRetryStrategy()],
  ['regionConfig/getInstanceMetadataRegion.js', ({ getInstanceMetadataRegion }) => getInstanceMetadataRegion()],
  ['signature-v4/dist-es/HeaderFormatter.js', ({ HeaderFormatter }) => new HeaderFormatter().format()],
  ['commands/DescribeEndpointsCommand.js', ({ DescribeEndpointsCommand }) => new DescribeEndpointsCommand()],
  [
    'middleware-logger/loggerMiddleware.js',
    ({ getLoggerPlugin }) => getLoggerPlugin({ logger: console }).applyToStack(),
  ],
  ['smithy-client/schemaLogFilter.js', ({ schemaLogFilter }) => schemaLogFilter()],
])('the replacement of %s in the SDK fails and says why', async (file, use) => {
  const { code } = await transform(REPLACEMENTS[file] ?? '', { format: 'cjs' });
  const replacement = { exports: {} };
  new Function('module', code)(replacement);
  await expect(async () => use(replacement.exports)).rejects.toThrow('this bundle has no ');
});

test('a file of the SDK that exports more than its replacement cannot be bundled', () => {
  const original = 'export const v1 = 1;\nexport async function v4() {}\n';
  expect(() => replaced(original, 'export const v4 = () => {};', 'uuid.js')).toThrow(
    'uuid.js of the SDK exports v1 as well',
  );
});

test('only computed keys that stand for a text are replaced in schemas', () => {
  const schemas = 'const _hH = "httpHeader";\nexport var A$ = [0, { [_hH]: _x, [_unknown]: 1 }, list[_hH]];\n';
  expect(withLiteralKeys(schemas)).toContain('[0, { "httpHeader": _x, [_unknown]: 1 }, list[_hH]]');
});

test('a client of the SDK that writes the keys of its schemas in an unknown way cannot be bundled', () => {
  const schemas = 'export var A$ = [0, { ["httpHeader"]: _x }];\n';
  expect(() => withLiteralKeys(schemas)).toThrow('writes the keys of its schemas in another way');
});

test('an SDK that makes its paginators in an unknown way cannot be bundled', () => {
  const pagination = 'export const paginateQuery = makePaginator(QueryCommand);\n';
  expect(() => withPurePaginators(pagination)).toThrow('makes its paginators in another way');
});

test('a client of the SDK that registers its errors in an unknown way cannot be bundled', () => {
  expect(() => withoutUnusedErrors('registry.add(AccessDenied);')).toThrow('registers its errors in another way');
});

describe('an error of the SDK in a bundle', () => {
  const failing = async (type: string, fields: object) => {
    const { outputFiles } = await build({
      stdin: { contents: PROBE, resolveDir: import.meta.dirname },
      bundle: true,
      platform: 'node',
      format: 'cjs',
      mainFields: ['module', 'main'],
      plugins: [leanSdk],
      write: false,
    });
    const probe = { exports: {} as { fail: (body: string) => Promise<Failure> } };
    new Function('require', 'module', 'exports', outputFiles[0]?.text ?? '')(
      createRequire(import.meta.url),
      probe,
      probe.exports,
    );
    return probe.exports.fail(JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, ...fields }));
  };

  test('keeps its class and its fields when our code names it', async () => {
    const Item = { id: { S: 'a' } };
    const failure = await failing('ConditionalCheckFailedException', { message: 'The condition failed', Item });
    expect(failure).toMatchObject({ isNamed: true, name: 'ConditionalCheckFailedException', Item });
  });

  test('keeps only its name, message and status when our code does not name it', async () => {
    const failure = await failing('ItemCollectionSizeLimitExceededException', { message: 'Too large' });
    expect(failure).toMatchObject({
      isNamed: false,
      isBase: true,
      name: 'ItemCollectionSizeLimitExceededException',
      message: 'Too large',
      $fault: 'client',
      status: 400,
    });
  });
});

interface Failure {
  readonly isNamed: boolean;
  readonly isBase: boolean;
}

/** A program that calls DynamoDB. The answer is an error with a given body; the program returns what the SDK has made of it. */
const PROBE = `
  import { Readable } from 'node:stream';
  import { ConditionalCheckFailedException, DynamoDBClient, DynamoDBServiceException, GetItemCommand } from '@aws-sdk/client-dynamodb';
  export async function fail(body) {
    const requestHandler = { handle: async () => ({ response: { statusCode: 400, headers: {}, body: Readable.from([body]) } }) };
    const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
    const client = new DynamoDBClient({ region: 'us-east-1', credentials, maxAttempts: 1, requestHandler });
    const error = await client.send(new GetItemCommand({ TableName: 'a', Key: { id: { S: 'a' } } })).catch((error) => error);
    const isNamed = error instanceof ConditionalCheckFailedException;
    const isBase = error instanceof DynamoDBServiceException;
    return { ...error, name: error.name, message: error.message, status: error.$metadata.httpStatusCode, isNamed, isBase };
  }
`;
