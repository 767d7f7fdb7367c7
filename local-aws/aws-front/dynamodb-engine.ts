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

/** DynamoDB Local accepts any credentials whose key is alphanumeric. */
const ANY_CREDENTIALS: Credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
/** Less than the time after which the engine ends idle connections, so that no request uses one that is just ending. */
const IDLE_CONNECTION_MS = 5_000;

/** The engine behind the front: DynamoDB Local, or another server with DynamoDB's protocol. */
export function connectDynamoDb(options: {
  endpoint: string;
  region: string;
  credentials?: Credentials;
}): DynamoDbEngine {
  const { endpoint, region, credentials = ANY_CREDENTIALS } = options;
  const { host, protocol, hostname, port } = new URL(endpoint);
  const agent = protocol === 'https:' ? undefined : new Agent({ keepAlive: true, timeout: IDLE_CONNECTION_MS });
  const open = protocol === 'https:' ? requestByTls : request;

  return {
    async send(operation, body) {
      const unsigned = {
        method: 'POST',
        url: '/',
        headers: {
          host,
          'content-type': 'application/x-amz-json-1.0',
          'x-amz-target': `DynamoDB_20120810.${operation}`,
        },
        payloadHash: sha256Hex(body),
      };
      const headers = {
        ...(await signRequest(unsigned, credentials, { region, service: 'dynamodb' })),
        'content-length': Buffer.byteLength(body),
      };
      return new Promise((resolve, reject) => {
        const outgoing = open({ method: 'POST', hostname, port, path: '/', headers, ...(agent && { agent }) });
        outgoing.on('response', async (response) => {
          try {
            const chunks: Buffer[] = await response.toArray();
            resolve({ status: response.statusCode ?? 500, headers: response.headers, body: Buffer.concat(chunks) });
          } catch (error) {
            reject(error);
          }
        });
        outgoing.on('error', reject);
        outgoing.end(body);
      });
    },
    close: () => agent?.destroy(),
  };
}
