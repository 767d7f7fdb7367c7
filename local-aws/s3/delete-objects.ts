import { readDocument } from './content.ts';
import { S3Error } from './s3-error.ts';
import type { Handler } from './s3-request.ts';
import { childText, renderXml, type XmlElements } from './xml.ts';

/** Source: S3 API, DeleteObjects. */
const KEYS_MAX = 1000;

/**
 * Deletes up to 1,000 keys, each for itself: one that the sender may not delete is reported among the errors of a 200, and
 * the others go. If we die meanwhile, those before are gone and the rest is there; deleting again does no harm.
 */
export const deleteObjects: Handler = async (bucket, request) => {
  const checksums = Object.keys(request.headers).filter((name) =>
    /^(content-md5|x-amz-(checksum-|trailer))/.test(name),
  );
  if (checksums.length === 0) {
    throw new S3Error('InvalidRequest', {
      message: 'Missing required header for this request: Content-MD5 OR x-amz-checksum-*',
    });
  }
  const document = await readDocument(request, 'Delete');
  const objects = document.children.filter(({ name }) => name === 'Object');
  const keys = objects.map((object) => childText(object, 'Key'));
  if (keys.length === 0 || keys.length > KEYS_MAX || keys.includes(undefined)) throw new S3Error('MalformedXML');
  if (objects.some(({ children }) => children.some(({ name }) => name !== 'Key'))) throw new S3Error('NotImplemented');
  const isQuiet = childText(document, 'Quiet') === 'true';
  const Deleted: XmlElements[] = [];
  const errors: XmlElements[] = [];
  for (const Key of keys as string[]) {
    if (await request.access.delete(bucket.name, Key)) {
      bucket.objects.delete(Key);
      if (!isQuiet) Deleted.push({ Key });
    } else {
      errors.push({ Key, Code: 'AccessDenied', Message: 'Access Denied' });
    }
  }
  return { status: 200, body: renderXml('DeleteResult', { Deleted, Error: errors }) };
};
