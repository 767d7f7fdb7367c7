import { HeadBucketCommand } from '@aws-sdk/client-s3';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { required } from '../env.ts';
import { dynamoDb } from './dynamodb.ts';
import { s3 } from './s3.ts';

const table = required('ACCOUNTS_TABLE');
const bucket = required('UPLOADS_BUCKET');

/** Reads a row that does not exist. @throws when the database does not answer before `signal`. */
export function probeDatabase(signal: AbortSignal): Promise<unknown> {
  return dynamoDb.send(new GetCommand({ TableName: table, Key: { id: 'probe' } }), { abortSignal: signal });
}

/** Asks whether the bucket is there. @throws when the storage does not answer before `signal`. */
export function probeStorage(signal: AbortSignal): Promise<unknown> {
  return s3.send(new HeadBucketCommand({ Bucket: bucket }), { abortSignal: signal });
}
