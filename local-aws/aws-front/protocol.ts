import type { Identity } from './authenticate.ts';
import type { Call } from './call.ts';
import type { Message, Reply } from './message.ts';
import type { Authorization } from './signature/authorization.ts';

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

export interface OpenedMessage {
  /** What the signature must cover of the body. */
  payloadHash(authorization: Authorization): string;
  /** @throws the service's errors, when it does not know what is asked. */
  interpret(identity: Identity): Call;
}
