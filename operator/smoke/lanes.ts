import type { FileRecord } from '../../shared/contract/answers.ts';
import { type Check, NotTried, type Settings } from './check.ts';
import { type Content, randomContent } from './content.ts';
import { exchange, type Framing } from './http.ts';
import { expectEqual, expectStatus, framingBytes } from './service.ts';

const MIB = 1024 * 1024;
const NAME = 'smoke.bin';
/** The longest body that goes through the gateway; the edge routes longer ones to the streaming function. */
const INLINE_BODY_MAX_BYTES = 4 * MIB;

/**
 * The sizes of the uploaded files. Some are near the limit between two lanes, near the size of S3's parts, or near the gateway's limits.
 */
const SIZES: readonly { readonly label: string; readonly bytes: number }[] = [
  { label: '1 B', bytes: 1 },
  ...[-1, 0, 1].map((more) => ({
    label: `a body of 4 MiB${more === 0 ? '' : ` ${more < 0 ? '-' : '+'} 1 B`}`,
    bytes: INLINE_BODY_MAX_BYTES + more - framingBytes(NAME),
  })),
  ...[5, 7, 11, 25, 100].map((mib) => ({ label: `${mib} MiB`, bytes: mib * MIB })),
];

const FRAMINGS: Readonly<Record<Framing, string>> = {
  length: 'with its length',
  chunked: 'without a length',
  expect: 'with Expect: 100-continue',
};

/** A file of every size is uploaded in every way, and downloaded through its link byte for byte. */
export const LANE_CHECKS: readonly Check[] = SIZES.flatMap(({ label, bytes }) => [
  ...(Object.keys(FRAMINGS) as Framing[]).map((framing) => ({
    name: `form of ${label}, ${FRAMINGS[framing]}`,
    run: (settings: Settings) => runIfPossible(settings, bytes, framing, () => uploadByForm(settings, bytes, framing)),
  })),
  {
    name: `direct upload of ${label}`,
    run: (settings: Settings) => runIfPossible(settings, bytes, undefined, () => uploadDirectly(settings, bytes)),
  },
]);

async function runIfPossible(
  { largestBytes, isStreaming }: Settings,
  bytes: number,
  framing: Framing | undefined,
  run: () => Promise<string>,
): Promise<string> {
  if (bytes > largestBytes) throw new NotTried('the file is larger than --largest-mib');
  const needsStreaming = framing === 'chunked' || bytes + framingBytes(NAME) > INLINE_BODY_MAX_BYTES;
  if (framing !== undefined && needsStreaming && !isStreaming)
    throw new NotTried('the service has no streaming function');
  return run();
}

async function uploadByForm({ service }: Settings, bytes: number, framing: Framing): Promise<string> {
  const content = randomContent(bytes);
  const startedAt = performance.now();
  const file = await service.upload(NAME, content, framing);
  const rate = rateOf(bytes, startedAt);
  await expectStored(file, content);
  expectStatus(await service.remove(file.id), 200);
  return rate;
}

async function uploadDirectly({ service }: Settings, bytes: number): Promise<string> {
  const content = randomContent(bytes);
  const startedAt = performance.now();
  const { id, upload } = await service.askForTicket(NAME, bytes);
  expectStatus(await exchange(upload.url, { method: upload.method, headers: upload.headers, body: content }), 200);
  // The arrival of the bytes completes the upload as well. Whichever completion comes second gets the record that the first has made.
  const answer = expectStatus(await service.ask(`/uploads/${id}/complete`, { method: 'POST' }), 201);
  const rate = rateOf(bytes, startedAt);
  await expectStored(JSON.parse(answer.text) as FileRecord, content);
  expectStatus(await service.remove(id), 200);
  return rate;
}

async function expectStored(file: FileRecord, content: Content): Promise<void> {
  expectEqual('size_bytes', file.size_bytes, content.length);
  const read = expectStatus(await exchange(file.url), 200);
  expectEqual('the length of the download', read.bytes, content.length);
  expectEqual('the hash of the download', read.sha256, content.sha256());
}

function rateOf(bytes: number, startedAt: number): string {
  const seconds = (performance.now() - startedAt) / 1_000;
  return `${seconds.toFixed(1)} s, ${(bytes / MIB / seconds).toFixed(1)} MiB/s`;
}
