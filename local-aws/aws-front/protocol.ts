import type { Identity } from './authenticate.ts';
import type { Authorization } from './authorization.ts';
import type { Message, Reply } from './message.ts';
import type { Permission } from './policy-evaluator.ts';

/** How the requests of a service are read and its answers written. */
export interface Protocol {
  /** How far the clock of a client may be from that of this server. */
  readonly clockSkewSeconds: number;
  /** Begins to read a request. Reads the body only if the check of the signature needs it; requests to S3 have its hash in a header. */
  open(message: Message): Promise<OpenedMessage>;
  renderError(error: unknown): Reply;
  /** Adds what every answer of the service has. */
  complete?(message: Message, reply: Reply): Reply;
  /** Answers a CORS preflight. */
  preflight?(message: Message): Reply;
}

interface OpenedMessage {
  /** The hash of the body that must have been signed, or the word in its place. */
  payloadHash(authorization: Authorization): string;
  /** Finds the call that an authenticated request makes. @throws errors of the service, for an unknown operation. */
  interpret(identity: Identity): Call;
}

export type ServiceName = 's3' | 'dynamodb' | 'secretsmanager' | 'ssm' | 'logs' | 'sts';

/** What a request asks of a service, before it is performed. */
export interface Call {
  readonly service: ServiceName;
  /** The operation as the SDK names it, such as `PutItem`. */
  readonly operation: string;
  /** The DynamoDB tables it touches, in the order of the request, each as often as the request names it. */
  readonly tables: readonly string[];
  /** The request document, of a service with JSON requests. */
  readonly input?: object;
  /** The bucket and the key of a call to S3. The key is empty when the call is about the bucket. */
  readonly bucket?: string;
  readonly key?: string;
  readonly permissions: readonly Permission[];
  /** @throws errors that the service answers with. */
  perform(): Promise<PerformedReply>;
  /** The error by which the service refuses it as too frequent. */
  throttled(): Error;
  /** The error by which it is refused because of another call at the same time; for DynamoDB, on an item of that table. */
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
