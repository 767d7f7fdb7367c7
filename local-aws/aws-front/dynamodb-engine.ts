import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { request as requestByTls } from 'node:https';
import { type Credentials, sha256Hex, signRequest } from './signature.ts';

export interface EngineReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface DynamoDbEngine {
  /** @throws Error when the engine does not answer. */
  send(operation: string, body: string): Promise<EngineReply>;
  close(): void;
}

/** DynamoDB Local wants a signature, but does not check it, so it gets the same one with each call. */
const UNCHECKED_SIGNATURE = {
  authorization: `AWS4-HMAC-SHA256 Credential=local/20000101/local/dynamodb/aws4_request, SignedHeaders=host, Signature=${'0'.repeat(64)}`,
};

/** How long a connection may be idle: less than the engine allows, so that no request uses one that the engine is just ending. */
const IDLE_CONNECTION_MS = 5_000;

/**
 * The engine behind the front: DynamoDB Local, or another server with DynamoDB's protocol.
 * @param options  `credentials` are for an engine that checks signatures.
 */
export function connectDynamoDb(options: {
  endpoint: string;
  region: string;
  credentials?: Credentials;
}): DynamoDbEngine {
  const { endpoint, region, credentials } = options;
  const { host, protocol, hostname, port } = new URL(endpoint);
  const agent = protocol === 'https:' ? undefined : new Agent({ keepAlive: true, timeout: IDLE_CONNECTION_MS });
  const open = protocol === 'https:' ? requestByTls : request;

  return {
    async send(operation, body) {
      const unsigned = {
        host,
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `DynamoDB_20120810.${operation}`,
      };
      const signed = credentials
        ? await signCall(unsigned, body, { credentials, region })
        : { ...unsigned, ...UNCHECKED_SIGNATURE };
      const headers = { ...signed, 'content-length': Buffer.byteLength(body) };
      return new Promise((resolve, reject) => {
        const outgoing = open({ method: 'POST', hostname, port, path: '/', headers, ...(agent && { agent }) });
        outgoing.on('response', (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () => {
            resolve({ status: response.statusCode ?? 500, headers: response.headers, body: Buffer.concat(chunks) });
          });
          // An answer that is cut ends with an error.
          response.on('error', reject);
        });
        outgoing.on('error', reject);
        outgoing.end(body);
      });
    },
    close: () => agent?.destroy(),
  };
}

function signCall(
  headers: Readonly<Record<string, string>>,
  body: string,
  { credentials, region }: { credentials: Credentials; region: string },
): Promise<Record<string, string>> {
  const call = { method: 'POST', url: '/', headers, payloadHash: sha256Hex(body) };
  return signRequest(call, credentials, { region, service: 'dynamodb' });
}
