import { randomUUID } from 'node:crypto';
import type { Message, Reply } from './message.ts';
import { Problem, type ProblemKind } from './problem.ts';
import type { Call, Protocol, ServiceName } from './protocol.ts';
import { sha256Hex } from './signature.ts';

/** A service whose requests are JSON documents with the operation in a header. */
export interface JsonService {
  readonly name: ServiceName;
  /** The part of `X-Amz-Target` before the operation. */
  readonly targetPrefix: string;
  /** @returns undefined when the service does not know the operation or one of its parameters. */
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

/** The longest body that is read: more than DynamoDB accepts in one request (16 MB). */
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

/** @throws Problem `unknown-operation`; JsonError when the body is not a JSON object. */
function interpret(service: JsonService, { headers }: Message, body: Buffer): Call {
  const target = String(headers['x-amz-target'] ?? '');
  if (!target.startsWith(service.targetPrefix))
    throw new Problem('unknown-operation', `the local ${service.name} has no operation ${target}`);
  const operation = target.slice(service.targetPrefix.length);
  const input = parseObject(body);
  const interpreted = service.interpret(operation, input);
  if (!interpreted)
    throw new Problem(
      'unknown-operation',
      `the local ${service.name} does not know ${operation}, or one of its parameters`,
    );
  const throttled = () => toJsonError(new Problem('throttled'));
  return { service: service.name, operation, input, throttled, ...interpreted };
}

function parseObject(body: Buffer): object {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Refused below, like a value that is not an object.
  }
  throw new JsonError('com.amazon.coral.service#SerializationException', 'The request is not a JSON object.');
}

/** An error answer of a {@link JsonService}. */
export class JsonError extends Error {
  /** May begin with a namespace and a `#`. SDKs read only the part after the `#`. */
  readonly type: string;
  readonly status: number;
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(
    type: string,
    message: string,
    { status = 400, ...fields }: { status?: number; [field: string]: unknown } = {},
  ) {
    super(message);
    this.name = 'JsonError';
    this.type = type;
    this.status = status;
    this.fields = fields;
  }
}

const CORAL = 'com.amazon.coral.service#';

/** The errors by which these services word the problems that the front finds. */
const PROBLEMS: Record<ProblemKind, readonly [type: string, message: string, status?: number]> = {
  'access-denied': [`${CORAL}AccessDeniedException`, 'Access denied.'],
  'expired-url': [`${CORAL}InvalidSignatureException`, 'Signature expired.'],
  'incomplete-signature': [`${CORAL}IncompleteSignatureException`, 'Authorization header is incomplete.'],
  'internal-error': [`${CORAL}InternalServerError`, 'Internal server error', 500],
  'invalid-token': [`${CORAL}UnrecognizedClientException`, 'The security token included in the request is invalid.'],
  'malformed-query-signature': [
    `${CORAL}IncompleteSignatureException`,
    'Query parameters of the signature are malformed.',
  ],
  'missing-signature': [`${CORAL}MissingAuthenticationTokenException`, 'Request is missing Authentication Token'],
  'payload-hash-missing': [`${CORAL}InvalidSignatureException`, 'The hash of the payload is invalid.'],
  'signature-mismatch': [
    `${CORAL}InvalidSignatureException`,
    'The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method.',
  ],
  throttled: [`${CORAL}ThrottlingException`, 'Rate exceeded'],
  'time-skewed': [`${CORAL}InvalidSignatureException`, 'Signature expired.'],
  'two-signatures': [`${CORAL}IncompleteSignatureException`, 'The request is signed twice.'],
  'unknown-access-key': [
    `${CORAL}UnrecognizedClientException`,
    'The security token included in the request is invalid.',
  ],
  'unknown-operation': [`${CORAL}UnknownOperationException`, 'The local AWS does not know the operation.'],
  'unsigned-header': [`${CORAL}InvalidSignatureException`, 'A header that must be signed is not.'],
  'unsupported-signature': [`${CORAL}IncompleteSignatureException`, 'Only AWS4-HMAC-SHA256 is supported.'],
  'wrong-scope': [`${CORAL}InvalidSignatureException`, 'Credential should be scoped to a valid region.'],
};

/** The problems whose detail is sent in the answer. These services do not send the canonical request, for example. */
const TELLS_DETAIL = new Set<ProblemKind>([
  'access-denied',
  'incomplete-signature',
  'unknown-operation',
  'wrong-scope',
]);

function toJsonError(error: unknown): JsonError {
  if (error instanceof JsonError) return error;
  const { kind, message: detail } = error instanceof Problem ? error : new Problem('internal-error');
  const [type, message, status = 400] = PROBLEMS[kind];
  return new JsonError(type, TELLS_DETAIL.has(kind) && detail ? detail : message, { status });
}

export function jsonReply(status: number, body: object): Reply {
  return {
    status,
    headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amzn-requestid': randomUUID() },
    body: JSON.stringify(body),
  };
}

export function renderJsonError(error: unknown): Reply {
  const { type, message, status, fields } = toJsonError(error);
  return jsonReply(status, { __type: type, message, ...fields });
}
