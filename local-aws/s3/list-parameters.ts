import { S3Error } from './s3-error.ts';

/**
 * A parameter that limits a list: a whole number from 0 on; S3 never gives more than `max` at once.
 * @throws S3Error `InvalidArgument`.
 */
export function limitParameter(query: URLSearchParams, name: string, max = 1000): number {
  const text = query.get(name);
  if (text === null || text === '') return max;
  if (!/^\d{1,9}$/.test(text)) {
    throw new S3Error('InvalidArgument', { message: `Provided ${name} not an integer or within integer range` });
  }
  return Math.min(Number(text), max);
}

/** How keys are written in the answer: as they are, or percent-encoded where the request asks for that. */
export function keyEncoder(query: URLSearchParams): { encode: (key: string) => string; EncodingType?: 'url' } {
  const type = query.get('encoding-type');
  if (type === null) return { encode: (key) => key };
  if (type !== 'url') throw new S3Error('InvalidArgument', { message: 'Invalid Encoding Method specified in Request' });
  const encode = (key: string) => encodeURIComponent(key).replace(/%2F/g, '/').replace(/%20/g, '+');
  return { encode, EncodingType: 'url' };
}
