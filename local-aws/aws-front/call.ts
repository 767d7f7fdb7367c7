import type { Permission } from './access/permission.ts';
import type { Reply } from './message.ts';

export type ServiceName = 's3' | 'dynamodb' | 'secretsmanager' | 'ssm';

/** What one request asks of a service, known before anything has happened. */
export interface Call {
  readonly service: ServiceName;
  /** As the SDK names it: `PutItem`, `GetObject`. */
  readonly operation: string;
  /** DynamoDB tables it touches, in the order of the request, each as often as the request names it. */
  readonly tables: readonly string[];
  /** The request of a service that speaks JSON. */
  readonly input?: object;
  /** Of S3; the key is empty when the call is about the bucket. */
  readonly bucket?: string;
  readonly key?: string;
  readonly permissions: readonly Permission[];
  /** Carries it out. @throws what the service makes an error answer of. */
  perform(): Promise<PerformedReply>;
  /** How the service refuses it as too fast. */
  throttled(): Error;
  /** How DynamoDB refuses it when it meets a transaction on an item of that table. */
  conflict?(table: string | undefined): Error;
}

export interface PerformedReply extends Reply {
  /** What DynamoDB charged. */
  readonly consumed?: readonly Consumption[];
}

export interface Consumption {
  readonly table: string;
  readonly readUnits: number;
  readonly writeUnits: number;
}
