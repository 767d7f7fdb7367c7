import { groupOfArn } from '../logs/log-groups.ts';
import type { Deployment, Resource } from '../template/deployment.ts';
import { readProperties } from '../template/read-properties.ts';

/** One request to a distribution, with everything that its log can have. */
interface LoggedRequest {
  /** When the request ended, in epoch milliseconds. */
  readonly endedAt: number;
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  /** 0 when the viewer disconnected before the answer. */
  readonly status: number;
  readonly viewerAddress: string;
  /** The `X-Amz-Cf-Id` of the answer. */
  readonly requestId: string;
  /** Where the answer came from: `Hit`, `Miss`, `Error`, `FunctionGeneratedResponse` … */
  readonly resultType: string;
  readonly bytesSent: number;
  readonly bytesReceived: number;
  readonly milliseconds: number;
}

/** The fields of a log. Source: CloudFront Developer Guide, "Standard logging reference". */
const FIELDS: Readonly<Record<string, (request: LoggedRequest) => string>> = {
  date: ({ endedAt }) => new Date(endedAt).toISOString().slice(0, 10),
  time: ({ endedAt }) => new Date(endedAt).toISOString().slice(11, 19),
  'c-ip': ({ viewerAddress }) => viewerAddress,
  'cs-method': ({ method }) => method,
  'cs-uri-stem': ({ path }) => path,
  'cs-bytes': ({ bytesReceived }) => String(bytesReceived),
  'sc-status': ({ status }) => String(status).padStart(3, '0'),
  'sc-bytes': ({ bytesSent }) => String(bytesSent),
  'time-taken': ({ milliseconds }) => (milliseconds / 1_000).toFixed(3),
  'x-edge-request-id': ({ requestId }) => requestId,
  'x-edge-result-type': ({ resultType }) => resultType,
};

/** Writes a line for one request. */
export type WriteAccessLine = (request: LoggedRequest) => void;

/**
 * Finds the log group and the fields of a distribution's log. In the template a delivery source names the distribution, a delivery
 * destination the log group, and a delivery connects the two.
 * @returns undefined when the distribution has no log. @throws Error naming a field that the local CloudFront does not know.
 */
export function readAccessLog(
  deployment: Deployment,
  distribution: Resource,
  append: (group: string, line: string) => void,
): WriteAccessLine | undefined {
  const sources = deployment.resources('AWS::Logs::DeliverySource').map(readSource);
  const source = sources.find(({ resourceArn }) => resourceArn.endsWith(`:distribution/${distribution.ref}`));
  const delivery = deployment
    .resources('AWS::Logs::Delivery')
    .map(readDelivery)
    .find(({ sourceName }) => sourceName === source?.name);
  if (!delivery) return undefined;
  const group = deployment
    .resources('AWS::Logs::DeliveryDestination')
    .filter((resource) => resource.attribute('Arn') === delivery.destinationArn)
    .map(readDestination)[0];
  if (group === undefined) throw new Error(`the log of ${distribution.logicalId} has no destination`);
  return (request) => {
    const record = Object.fromEntries(delivery.fields.map((field) => [field, FIELDS[field]?.(request)]));
    append(group, JSON.stringify(record));
  };
}

function readSource({ logicalId, properties }: Resource) {
  return readProperties(
    logicalId,
    properties(),
    (take) => ({ name: take<string>('Name'), resourceArn: take<string>('ResourceArn') }),
    ['LogType', 'Tags'],
  );
}

function readDestination({ logicalId, properties }: Resource): string {
  return readProperties(
    logicalId,
    properties(),
    (take) => {
      const format = take<string>('OutputFormat');
      if (format !== 'json') throw new Error(`${logicalId}: the local AWS does not support the format ${format}`);
      return groupOfArn(take<string>('DestinationResourceArn'));
    },
    ['Name', 'Tags'],
  );
}

function readDelivery({ logicalId, properties }: Resource) {
  return readProperties(
    logicalId,
    properties(),
    (take) => {
      const fields = take<string[]>('RecordFields');
      const unknown = fields.find((field) => !Object.hasOwn(FIELDS, field));
      if (unknown !== undefined) throw new Error(`${logicalId}: the local AWS does not know the field ${unknown}`);
      return {
        sourceName: take<string>('DeliverySourceName'),
        destinationArn: take<string>('DeliveryDestinationArn'),
        fields,
      };
    },
    ['Tags'],
  );
}
