import type { Call, ServiceName } from '../call.ts';
import type { Message } from '../message.ts';
import { Problem } from '../problem.ts';
import type { Protocol } from '../protocol.ts';
import { sha256Hex } from '../signature/calculate.ts';
import { JsonError, renderJsonError, toJsonError } from './json-error.ts';

/** A service whose requests are JSON documents with the operation in a header. */
export interface JsonService {
  readonly name: ServiceName;
  /** What stands before the operation in `X-Amz-Target`. */
  readonly targetPrefix: string;
  /** What is asked; `undefined` when the service does not know the operation, or the request names nothing to act on. */
  interpret(
    operation: string,
    input: object,
  ): (Pick<Call, 'tables' | 'permissions' | 'perform'> & Partial<Pick<Call, 'throttled' | 'conflict'>>) | undefined;
}

export function jsonProtocol(service: JsonService, onUnexpected: (error: unknown) => void): Protocol {
  return {
    clockSkewSeconds: 5 * 60,
    async open(message) {
      const body = await readBody(message);
      const hash = sha256Hex(body);
      return {
        payloadHash: () => hash,
        interpret({ signed }) {
          if (!signed) throw new Problem('missing-signature');
          return interpret(service, message, body);
        },
      };
    },
    renderError(error) {
      if (!(error instanceof Problem || error instanceof JsonError)) onUnexpected(error);
      return renderJsonError(error);
    },
  };
}

/** More than DynamoDB takes in one request (16 MB). */
const BODY_MAX_BYTES = 17 * 1024 * 1024;

async function readBody({ body }: Message): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > BODY_MAX_BYTES)
      throw new JsonError('RequestEntityTooLargeException', 'Request too large', { status: 413 });
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

/** @throws Problem `unknown-operation`; JsonError when the body is no JSON object. */
function interpret(service: JsonService, { headers }: Message, body: Buffer): Call {
  const target = String(headers['x-amz-target'] ?? '');
  if (!target.startsWith(service.targetPrefix)) throw new Problem('unknown-operation', `no operation ${target} here`);
  const operation = target.slice(service.targetPrefix.length);
  const input = parseObject(body);
  const interpreted = service.interpret(operation, input);
  if (!interpreted) throw new Problem('unknown-operation', `the local ${service.name} does not know this ${operation}`);
  const throttled = () => toJsonError(new Problem('throttled'));
  return { service: service.name, operation, input, throttled, ...interpreted };
}

function parseObject(body: Buffer): object {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Answered like a value that is no object.
  }
  throw new JsonError('com.amazon.coral.service#SerializationException', 'The request is not a JSON object.');
}
