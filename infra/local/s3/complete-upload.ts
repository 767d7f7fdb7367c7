import { CHECKSUM_ALGORITHMS, digestOf } from './checksums.ts';
import { checkWrite } from './conditions.ts';
import { readDocument } from './content.ts';
import type { Part, Upload } from './multipart-store.ts';
import { checksumElements, quoted } from './object-headers.ts';
import type { Checksum } from './object-store.ts';
import { S3Error } from './s3-error.ts';
import type { Handler } from './s3-request.ts';
import { findUpload } from './upload-operations.ts';
import { childText, renderXml, type XmlNode } from './xml.ts';

/** Every part but the last. Source: S3 quotas. */
const PART_MIN_BYTES = 5 * 1024 * 1024;

/**
 * Joins the listed parts into the object, all or nothing; parts that are not listed go with the upload. A refused
 * completion leaves the upload as it was. Repeating one that succeeded is `NoSuchUpload`, as S3 documents: a client whose
 * answer was lost has to look for the object.
 */
export const completeMultipartUpload: Handler = async (bucket, request) => {
  const { key, headers } = request;
  const document = await readDocument(request, 'CompleteMultipartUpload');
  const upload = findUpload(bucket, request);
  const parts = listedParts(document, upload);
  const condition = () => {
    findUpload(bucket, request); // It may have been completed or aborted while we joined.
    checkWrite(headers, bucket.objects.find(key));
  };
  condition();
  const etag = `${digestOf('MD5', ...parts.map((part) => Buffer.from(part.etag, 'hex'))).toString('hex')}-${parts.length}`;
  const checksum = compositeChecksum(upload, parts);
  const draft = await bucket.objects.receive(bucket.uploads.content(upload.id, parts), []).catch((error) => {
    findUpload(bucket, request); // Its files are gone because it was aborted.
    throw error;
  });
  const fields = { key, etag, headers: upload.headers, ...(checksum && { checksum }) };
  const end = () => bucket.uploads.end(upload.id);
  const object = await bucket.objects.publish(draft, fields, { before: condition, after: end });
  bucket.created(object, 'CompleteMultipartUpload');
  const body = renderXml('CompleteMultipartUploadResult', {
    Location: `/${bucket.name}/${key}`,
    Bucket: bucket.name,
    Key: key,
    ETag: quoted(etag),
    ...checksumElements(checksum),
  });
  return { status: 200, headers: { 'x-amz-server-side-encryption': 'AES256' }, body };
};

/** @throws S3Error `MalformedXML`, `InvalidPartOrder`, `InvalidPart`, `EntityTooSmall`. */
function listedParts(document: XmlNode, upload: Upload): Part[] {
  const listed = document.children.filter(({ name }) => name === 'Part');
  if (listed.length === 0) throw new S3Error('MalformedXML');
  const parts = listed.map((element) => listedPart(element, upload));
  parts.forEach(({ partNumber, size }, index) => {
    if (partNumber <= (parts[index - 1]?.partNumber ?? 0)) throw new S3Error('InvalidPartOrder');
    if (size >= PART_MIN_BYTES || index === parts.length - 1) return;
    const details = {
      ProposedSize: String(size),
      MinSizeAllowed: String(PART_MIN_BYTES),
      PartNumber: String(partNumber),
    };
    throw new S3Error('EntityTooSmall', { details });
  });
  return parts;
}

function listedPart(element: XmlNode, upload: Upload): Part {
  const [number, etag] = [childText(element, 'PartNumber'), childText(element, 'ETag')];
  if (number === undefined || etag === undefined) throw new S3Error('MalformedXML');
  const part = upload.parts.get(Number(number));
  const invalid = () =>
    new S3Error('InvalidPart', { details: { UploadId: upload.id, PartNumber: number, ETag: etag } });
  if (!part || part.etag !== etag.replace(/^"|"$/g, '')) throw invalid();
  for (const algorithm of CHECKSUM_ALGORITHMS) {
    const checksum = childText(element, `Checksum${algorithm}`);
    if (checksum === undefined) continue;
    if (part.checksum?.algorithm !== algorithm || part.checksum.value !== checksum) throw invalid();
  }
  return part;
}

/** The checksum of the parts' checksums, where the upload was begun with one and every part came with it. */
function compositeChecksum({ checksumAlgorithm: algorithm }: Upload, parts: readonly Part[]): Checksum | undefined {
  if (algorithm === undefined) return undefined;
  const checksums = parts.flatMap(({ checksum }) => (checksum?.algorithm === algorithm ? [checksum.value] : []));
  if (checksums.length < parts.length) {
    const message = `The upload was created using the ${algorithm.toLowerCase()} checksum mode. The complete request must include the checksum for each part.`;
    throw new S3Error('InvalidRequest', { message });
  }
  const digest = digestOf(algorithm, ...checksums.map((value) => Buffer.from(value, 'base64')));
  return { algorithm, value: `${digest.toString('base64')}-${parts.length}` };
}
