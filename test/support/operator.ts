import { randomUUID } from 'node:crypto';
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DynamoDBClient,
  paginateScan,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import type { Sweeper } from '../../shared/contract/limits.ts';
import type { SweepReport } from '../../shared/files/sweep.ts';
import type { TestService } from './service.ts';

/** Access to all tables and the bucket, without requests to the service. */
export interface Operator {
  readonly service: TestService;
  readonly dynamoDb: DynamoDBClient;
  readonly s3: S3Client;
  /** The bucket of the uploads. */
  readonly bucket: string;
  /**
   * Sets every deadline of unfinished work to a time that has passed.
   * @returns the number of unfinished rows and tickets.
   */
  expireDeadlines(): Promise<number>;
  /** Sets the end of every lease of an attempt to complete a direct upload to a time that has passed. */
  expireLeases(): Promise<void>;
  /** Stores the API key of the canary. */
  putCanaryKey(key: string): Promise<void>;
  /** Runs the sweeper once, or one of several sweepers. @throws Error when it fails. */
  sweep(part?: Sweeper): Promise<SweepReport>;
  close(): void;
}

export function operatorOf(service: TestService): Operator {
  const credentials = { accessKeyId: `OPERATOR${randomUUID().replaceAll('-', '')}`, secretAccessKey: randomUUID() };
  const everything = { Version: '2012-10-17', Statement: [{ Effect: 'Allow' as const, Action: '*', Resource: '*' }] };
  service.front.addPrincipal({ ...credentials, name: 'operator', policies: [everything] });
  const common = { endpoint: service.front.endpoint, region: 'us-east-1', credentials };
  const [dynamoDb, s3] = [new DynamoDBClient(common), new S3Client({ ...common, forcePathStyle: true })];
  const TableName = service.tables.files;

  let sweepAt: number | undefined;

  /**
   * Ends every ticket. The id and the key of a ticket also say when the ticket ends, and they cannot change. So every later sweep gets a
   * time after the last of these ends.
   */
  async function expireTickets(): Promise<number> {
    const tickets = {
      TableName,
      FilterExpression: 'begins_with(account_id, :tickets)',
      ExpressionAttributeValues: { ':tickets': { S: '#tickets#' } },
      ConsistentRead: true,
    };
    let rows = 0;
    for await (const { Items = [] } of paginateScan({ client: dynamoDb }, tickets)) {
      for (const { account_id, id } of Items) {
        await pass({ account_id, id } as Record<string, AttributeValue>, 'ends_at');
        sweepAt = Math.max(sweepAt ?? 0, Number(id?.S?.split('#')[0]) + 1_000);
        rows++;
      }
    }
    return rows;
  }

  /** Sets a deadline to a time that has passed. Does nothing when the row is gone, because the work was finished after the row was read. */
  async function pass(Key: Record<string, AttributeValue>, deadline: 'work_due_at' | 'ends_at'): Promise<void> {
    const command = new UpdateItemCommand({
      TableName,
      Key,
      UpdateExpression: 'SET #deadline = :past',
      ConditionExpression: 'attribute_exists(#deadline)',
      ExpressionAttributeNames: { '#deadline': deadline },
      ExpressionAttributeValues: { ':past': { N: String(Date.now() - 1_000) } },
    });
    await dynamoDb.send(command).catch((error: unknown) => {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    });
  }

  return {
    service,
    dynamoDb,
    s3,
    bucket: service.lambda.find('SweepFunction').variables.UPLOADS_BUCKET ?? '',
    async putCanaryKey(key) {
      const Name = service.lambda.find('CanaryFunction').variables.CANARY_KEY_PARAMETER;
      const ssm = new SSMClient(common);
      await ssm.send(new PutParameterCommand({ Name, Value: key, Type: 'SecureString', Overwrite: true }));
      ssm.destroy();
    },
    async expireDeadlines() {
      let rows = 0;
      for await (const { Items = [] } of paginateScan({ client: dynamoDb }, { TableName, IndexName: 'unfinished' })) {
        for (const { account_id, id } of Items) {
          await pass({ account_id, id } as Record<string, AttributeValue>, 'work_due_at');
          rows++;
        }
      }
      return rows + (await expireTickets());
    },
    async expireLeases() {
      const leased = { TableName, FilterExpression: 'attribute_exists(attempt_until)' };
      for await (const { Items = [] } of paginateScan({ client: dynamoDb }, leased)) {
        for (const { account_id, id } of Items) {
          await dynamoDb
            .send(
              new UpdateItemCommand({
                TableName,
                Key: { account_id, id } as never,
                UpdateExpression: 'SET attempt_until = :past',
                ConditionExpression: 'attribute_exists(attempt_until)',
                ExpressionAttributeValues: { ':past': { N: String(Date.now() - 1_000) } },
              }),
            )
            .catch((error) => {
              // If an attempt ends meanwhile, or its transaction is running, its lease need not expire.
              if (!/^(ConditionalCheckFailed|TransactionConflict)Exception$/.test(error.name)) throw error;
            });
        }
      }
    },
    async sweep(part) {
      const event =
        sweepAt === undefined ? { ...part } : { ...part, time: new Date(Math.max(sweepAt, Date.now())).toISOString() };
      const { functionError, payload } = await service.invoke('SweepFunction', event);
      if (functionError) throw new Error(`the sweeper failed: ${payload}`);
      return JSON.parse(payload) as SweepReport;
    },
    close() {
      dynamoDb.destroy();
      s3.destroy();
    },
  };
}
