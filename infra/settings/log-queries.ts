/**
 * The queries by which an operator searches the logs. The stacks save each query in CloudWatch. Nothing runs their language outside of AWS: a
 * test pins their texts, and checks that they name only fields that lines of the logs have.
 */

/** The fields of CloudFront's log of the app distribution. It has no query string, header or cookie. */
export const EDGE_LOG_FIELDS = [
  'date',
  'time',
  'x-edge-request-id',
  'c-ip',
  'cs-method',
  'cs-uri-stem',
  'sc-status',
  'x-edge-result-type',
  'cs-bytes',
  'sc-bytes',
  'time-taken',
] as const;

/**
 * The fields of CloudFront's log of the links. This log has no query string, header, cookie or client address: a line says which link was
 * read and how many bytes were sent, but not to whom. Source: CloudFront Developer Guide, "Standard logging (v2)", "Log file fields".
 */
export const DOWNLOAD_LOG_FIELDS = [
  'date',
  'time',
  'cs-method',
  'cs-uri-stem',
  'sc-status',
  'sc-bytes',
  'x-edge-result-type',
] as const;

/** A query of CloudWatch Logs Insights. */
export interface SavedQuery {
  /** The question that it answers. */
  readonly meaning: string;
  /** The logs that it reads. `service`: functions, gateway and audit trail. `requests`, `downloads`: CloudFront's, in us-east-1. */
  readonly of: 'service' | 'requests' | 'downloads';
  /** What `{{…}}` in the text stands for, with an example; absent when the text has no `{{…}}`. */
  readonly parameter?: { readonly name: string; readonly example: string };
  readonly text: string;
}

/** The numbers by which `shared/accounts/allowance.ts` and other checks of sizes refuse an upload. */
const NUMBERS =
  'bytes, used_bytes, limit_bytes, sent_today_bytes, limit_today_bytes, file_count, file_count_limit, expected_bytes';

const REQUEST = `fields @timestamp, message, route, status, code, detail, ${NUMBERS}, outcome, request_id, account_id, key_prefix, client_address`;

/**
 * Finds every line that contains the id anywhere: also Lambda's own lines, and ids in the text of an error. Use this for random ids only.
 */
const containing = (parameter: string) => `filter @message like "{{${parameter}}}"`;

/**
 * Finds the lines that have exactly this value in a field. Lambda wraps the lines of a Web Function (large uploads) in a record of its own.
 * There the line is a text with escaped quotes, or an object, and Insights does not find the field. In such a line a regular expression
 * finds the value. (In that expression, the dots of an IPv4 address match any character. It still finds no other address: when all digits
 * are in the same places, so are the dots.)
 */
const having = (field: string, parameter: string) =>
  String.raw`filter ${field} = "{{${parameter}}}" or (not ispresent(${field}) and @message like /${field}\\*":\\*"{{${parameter}}}\\*"/)`;

const EDGE =
  'fields @timestamp, `cs-method`, `cs-uri-stem`, `sc-status`, `x-edge-result-type`, `cs-bytes`, `c-ip`, `x-edge-request-id`';

export const SAVED_QUERIES = {
  'by-account': {
    meaning: 'The requests of an account, and their answers',
    of: 'service',
    parameter: { name: 'account', example: '01a20458-90c6-5de2-99f0-06a159293a04' },
    text: `${REQUEST}, resource_id, request_bytes | ${having('account_id', 'account')} | sort @timestamp desc | limit 200`,
  },
  'by-key-prefix': {
    meaning: 'The requests with a key, also after it was revoked',
    of: 'service',
    parameter: { name: 'prefix', example: 'svc_live_AbC' },
    text: `${REQUEST}, resource_id, request_bytes | ${having('key_prefix', 'prefix')} | sort @timestamp desc | limit 200`,
  },
  'by-request-id': {
    meaning: 'All lines of one request, of the function and of the gateway',
    of: 'service',
    parameter: { name: 'request', example: '11111111-2222-4333-8444-555555555555' },
    text: `${REQUEST}, integration_status, gateway_response, error, @log, @message | ${containing('request')} | sort @timestamp asc | limit 200`,
  },
  'by-resource': {
    meaning: 'What happened to a file, a direct upload or a key, by its id',
    of: 'service',
    parameter: { name: 'id', example: '01a20458-90c6-7de2-99f0-06a159293a04' },
    text: `${REQUEST} | ${containing('id')} | sort @timestamp desc | limit 200`,
  },
  'by-client-address': {
    meaning: 'The requests of a client that reached the API',
    of: 'service',
    parameter: { name: 'address', example: '192.0.2.1' },
    text: `${REQUEST} | ${having('client_address', 'address')} | sort @timestamp desc | limit 200`,
  },
  'refusals-of-account': {
    meaning: 'Why an account was refused, and how often',
    of: 'service',
    parameter: { name: 'account', example: '01a20458-90c6-5de2-99f0-06a159293a04' },
    text: `filter message = "request" and ispresent(code) and account_id = "{{account}}" | stats count(*) as refusals, latest(@timestamp) as last, latest(request_id) as request_id by route, status, code, detail | sort refusals desc | limit 50`,
  },
  'refused-by-gateway': {
    meaning:
      'The requests that the gateway answered itself: those that it refused, such as throttled ones, and those to which no function gave an answer',
    of: 'service',
    text: 'filter ispresent(gateway_response) and gateway_response != "-" | stats count(*) as requests, latest(request_id) as request_id by route, status, gateway_response | sort requests desc | limit 50',
  },
  'audit-trail': {
    meaning: 'Who logged in, made or revoked a key, ended a session; and what operators did',
    of: 'service',
    parameter: { name: 'account', example: '01a20458-90c6-5de2-99f0-06a159293a04' },
    text: `fields @timestamp, event, outcome, account_id, session, key_id, key_prefix, file_id, limit_bytes, client_address, user_agent, operator, request_id | filter message = "audit" and account_id = "{{account}}" | sort @timestamp desc | limit 500`,
  },
  'edge-by-client-address': {
    meaning: 'All requests of a client, also those that the edge refused',
    of: 'requests',
    parameter: { name: 'address', example: '192.0.2.1' },
    text: `${EDGE} | filter \`c-ip\` = "{{address}}" | sort @timestamp desc | limit 200`,
  },
  'edge-by-request-id': {
    meaning: 'A request that the edge or CloudFront itself answered',
    of: 'requests',
    parameter: { name: 'request', example: 'EXAMPLE_d111111abcdef8==' },
    text: `${EDGE} | filter \`x-edge-request-id\` = "{{request}}" | limit 1`,
  },
  'refused-by-edge': {
    meaning: 'The requests that the edge and the firewall refused, by client',
    of: 'requests',
    text: 'filter `sc-status` >= 400 and `x-edge-result-type` in ["FunctionGeneratedResponse", "Error"] | stats count(*) as requests, latest(`x-edge-request-id`) as request_id by `sc-status`, `x-edge-result-type`, `c-ip` | sort requests desc | limit 50',
  },
  'hot-links': {
    meaning: 'The links whose downloads sent the most bytes',
    of: 'downloads',
    text: 'stats sum(`sc-bytes`) as bytes, count(*) as downloads by `cs-uri-stem` | sort bytes desc | limit 20',
  },
} as const satisfies Record<string, SavedQuery>;

export type SavedQueryName = keyof typeof SAVED_QUERIES;
