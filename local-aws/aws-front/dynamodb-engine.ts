import { Agent, type IncomingHttpHeaders, request } from 'node:http';

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

export const ENGINE_REGION = 'local';

/** The engines want a signature and its time, but check neither, so they get the same ones with each call. */
const unchecked = (accessKeyId: string) => ({
  authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20000101/${ENGINE_REGION}/dynamodb/aws4_request, SignedHeaders=host, Signature=${'0'.repeat(64)}`,
  'x-amz-date': '20000101T000000Z',
});

/** How long a connection may be idle: less than the engines allow, so that no request uses one that the engine is just ending. */
const IDLE_CONNECTION_MS = 5_000;

/** The engine behind the front. @param endpoint  its user name, if any, is the access key id of the tables. */
export function connectDynamoDb(endpoint: string): DynamoDbEngine {
  const { host, hostname, port, username } = new URL(endpoint);
  const agent = new Agent({ keepAlive: true, timeout: IDLE_CONNECTION_MS });

  return {
    send(operation, body) {
      const headers = {
        host,
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `DynamoDB_20120810.${operation}`,
        'content-length': Buffer.byteLength(body),
        ...unchecked(username || 'local'),
      };
      return new Promise((resolve, reject) => {
        const outgoing = request({ method: 'POST', hostname, port, path: '/', headers, agent });
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
    close: () => agent.destroy(),
  };
}
