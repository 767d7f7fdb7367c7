import { ResponseType, type RestApi } from 'aws-cdk-lib/aws-apigateway';
import { ERRORS, type ErrorCode } from '../../shared/contract/errors.ts';

/**
 * The responses of the gateway itself, which it sends when no function answers. Each gets the status of its error code, except the two
 * defaults. A default is used for a whole class of statuses (4xx or 5xx), so its answers keep the gateway's status. API Gateway does not
 * let a template change `REQUEST_TOO_LARGE`, its 413 for bodies over 10 MiB; the edge rejects such bodies first.
 */
const RESPONSES: readonly { type: ResponseType; code: ErrorCode; keepStatus?: boolean }[] = [
  { type: ResponseType.ACCESS_DENIED, code: 'forbidden' },
  { type: ResponseType.API_CONFIGURATION_ERROR, code: 'service_unavailable' },
  { type: ResponseType.AUTHORIZER_CONFIGURATION_ERROR, code: 'service_unavailable' },
  { type: ResponseType.AUTHORIZER_FAILURE, code: 'service_unavailable' },
  { type: ResponseType.BAD_REQUEST_BODY, code: 'invalid_request' },
  { type: ResponseType.BAD_REQUEST_PARAMETERS, code: 'invalid_request' },
  { type: ResponseType.EXPIRED_TOKEN, code: 'not_found' },
  // The gateway takes our Authorization header for an AWS signature, but only on unknown routes.
  { type: ResponseType.INVALID_SIGNATURE, code: 'not_found' },
  { type: ResponseType.MISSING_AUTHENTICATION_TOKEN, code: 'not_found' },
  { type: ResponseType.RESOURCE_NOT_FOUND, code: 'not_found' },
  { type: ResponseType.INTEGRATION_FAILURE, code: 'service_unavailable' },
  { type: ResponseType.INTEGRATION_TIMEOUT, code: 'timeout' },
  { type: ResponseType.INVALID_API_KEY, code: 'forbidden' },
  { type: ResponseType.QUOTA_EXCEEDED, code: 'rate_limit_exceeded' },
  { type: ResponseType.THROTTLED, code: 'rate_limit_exceeded' },
  { type: ResponseType.UNAUTHORIZED, code: 'unauthorized' },
  { type: ResponseType.UNSUPPORTED_MEDIA_TYPE, code: 'unsupported_media_type' },
  { type: ResponseType.WAF_FILTERED, code: 'forbidden' },
  { type: ResponseType.DEFAULT_4XX, code: 'invalid_request', keepStatus: true },
  { type: ResponseType.DEFAULT_5XX, code: 'service_unavailable', keepStatus: true },
];

/** The `Retry-After` in seconds when the gateway itself throttles or cannot reach a function. */
const RETRY_AFTER_SECONDS = 1;

/** Gives each of the gateway's own responses our body, request id and headers. */
export function addGatewayResponses(api: RestApi): void {
  for (const { type, code, keepStatus } of RESPONSES) {
    const { status } = ERRORS[code];
    api.addGatewayResponse(`Response-${type.responseType}`, {
      type,
      ...(!keepStatus && { statusCode: String(status) }),
      responseHeaders: {
        'Cache-Control': "'no-store'",
        'X-Content-Type-Options': "'nosniff'",
        'X-Request-Id': 'context.requestId',
        ...((status === 429 || status === 503) && { 'Retry-After': `'${RETRY_AFTER_SECONDS}'` }),
      },
      templates: { 'application/json': JSON.stringify({ error: code }) },
    });
  }
}
