import type { Properties } from '../template/deployment.ts';
import { readProperties } from '../template/read-properties.ts';

/** The answers of the gateway itself that this one gives. */
export type ResponseType =
  | 'API_CONFIGURATION_ERROR'
  | 'BAD_REQUEST_PARAMETERS'
  | 'DEFAULT_4XX'
  | 'DEFAULT_5XX'
  | 'INTEGRATION_FAILURE'
  | 'INTEGRATION_TIMEOUT'
  | 'INVALID_API_KEY'
  | 'INVALID_SIGNATURE'
  | 'MISSING_AUTHENTICATION_TOKEN'
  | 'THROTTLED';

/** How the template wants an answer of the gateway to be. */
export interface ConfiguredResponse {
  /** Absent: whatever status the gateway gives. */
  readonly status?: number;
  /** By header name; the value is a mapping, such as `'text'` or `context.requestId`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly template?: { readonly contentType: string; readonly text: string };
}

const HEADER = 'gatewayresponse.header.';

/** @throws Error for a parameter that is no header, or more than one template. */
export function readGatewayResponse(
  logicalId: string,
  properties: Properties,
): [type: ResponseType, response: ConfiguredResponse] {
  return readProperties(logicalId, properties, (take) => {
    take('RestApiId');
    const status = take<string>('StatusCode', '');
    const [template, ...others] = Object.entries(take<Record<string, string>>('ResponseTemplates', {}));
    if (others.length > 0) throw new Error(`${logicalId}: the local gateway answers in one content type`);
    const headers = Object.entries(take<Record<string, string>>('ResponseParameters', {})).map(([name, mapping]) => {
      if (!name.startsWith(HEADER)) throw new Error(`${logicalId}: the local gateway does not map ${name}`);
      return [name.slice(HEADER.length), mapping] as const;
    });
    const response: ConfiguredResponse = {
      headers: Object.fromEntries(headers),
      ...(status !== '' && { status: Number(status) }),
      ...(template && { template: { contentType: template[0], text: template[1] } }),
    };
    return [take<ResponseType>('ResponseType'), response];
  });
}
