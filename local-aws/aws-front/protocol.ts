import type { Identity } from './authenticate.ts';
import type { Authorization } from './authorization.ts';
import type { Message, Reply } from './message.ts';
import type { Permission } from './policy-evaluator.ts';

/** How requests of a service are read, and its answers written. */
export interface Protocol {
  /** How far a client's clock may be from ours. */
  readonly clockSkewSeconds: number;
  /** What is asked, once the sender is known. Reads the body where its hash is part of the signature. */
  open(message: Message): Promise<OpenedMessage>;
  renderError(error: unknown): Reply;
  /** What every answer carries besides. */
  complete?(message: Message, reply: Reply): Reply;
  /** The answer to a browser that asks whether it may ask. */
  preflight?(message: Message): Reply;
}

interface OpenedMessage {
  /** What the signature must cover of the body. */
  payloadHash(authorization: Authorization): string;
  /** @throws the service's errors, when it does not know what is asked. */
  interpret(identity: Identity): Call;
}

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
