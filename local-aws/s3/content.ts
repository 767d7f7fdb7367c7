import { digestOf, expectedDigests, type VerifiedDigests } from './checksums.ts';
import { type Draft, discardDraft } from './described-file.ts';
import { S3Error } from './s3-error.ts';
import type { Bucket, S3Request } from './s3-request.ts';
import { parseXml, type ReadElement } from './xml.ts';

/** The most one PUT may hold. Source: S3 quotas. */
const CONTENT_MAX_BYTES = 5 * 1024 ** 3;

/**
 * Stores the content of a request as a draft and checks it against the length and the digests that the request announces.
 * @throws S3Error `MissingContentLength`, `EntityTooLarge`, `IncompleteBody`, `BadDigest` and others; then the draft is deleted.
 */
export async function receiveContent(
  bucket: Bucket,
  request: S3Request,
): Promise<{ draft: Draft; digests: VerifiedDigests }> {
  const { contentLength } = request;
  if (contentLength === undefined) throw new S3Error('MissingContentLength');
  if (contentLength > CONTENT_MAX_BYTES) throw new S3Error('EntityTooLarge');
  const { algorithms, verify } = expectedDigests(request);
  const draft = await bucket.objects.receive(request.content, algorithms);
  try {
    if (draft.size !== contentLength) throw new S3Error('IncompleteBody');
    return { draft, digests: verify(draft.digests) };
  } catch (error) {
    await discardDraft(draft);
    throw error;
  }
}

/** The longest document that is read: more than S3's limits allow, which are 10,000 parts with ETags and checksums. */
const DOCUMENT_MAX_BYTES = 8 * 1024 * 1024;

/**
 * Reads the XML document that is the content of a request, and checks it against the digests that the request announces.
 * @throws S3Error `MalformedXML`, among others when the root has another name; `BadDigest` and more.
 */
export async function readDocument(request: S3Request, root: string): Promise<ReadElement> {
  const { algorithms, verify } = expectedDigests(request);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.content) {
    size += chunk.length;
    if (size > DOCUMENT_MAX_BYTES) throw new S3Error('MalformedXML');
    chunks.push(chunk);
  }
  verify(new Map(algorithms.map((algorithm) => [algorithm, digestOf(algorithm, ...chunks)])));
  const document = parseXml(Buffer.concat(chunks).toString('utf8'), root);
  if (document === undefined) throw new S3Error('MalformedXML');
  return document;
}
