import { RemovalPolicy } from 'aws-cdk-lib';
import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import * as logs from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { acceptFindings } from './accepted-finding.ts';

/**
 * Requests a second that the gateway lets through, for all clients together; the limits of one client are counted by the
 * functions. An account runs 1,000 functions at once by default, so at this rate they suffice even while every answer
 * takes a second; above it the gateway refuses with our own 429, instead of Lambda with an error that costs an upload.
 * It also stays below what all APIs of an account share (10,000 a second, 2,500 in newer Regions).
 */
const RATE_PER_SECOND = 1_000;
/** Requests at one moment: half of the functions an account runs at once, so that events and the sweeper find room. */
const BURST = 500;

/**
 * One line a request. The route is the template of the path (`/api/v1/files/{id}`), so no id, name or query string is in
 * it, and neither is an address or a header: who asked is in the function's own line of the same request id.
 * `-` stands where there is no value, so numbers are quoted too.
 * Source: API Gateway Developer Guide, "Variables for access logging".
 */
const ACCESS_LOG_FIELDS = {
  time: '$context.requestTimeEpoch',
  request_id: '$context.requestId',
  route: '$context.httpMethod $context.resourcePath',
  status: '$context.status',
  latency_ms: '$context.responseLatency',
  integration_status: '$context.integration.status',
  integration_latency_ms: '$context.integration.latency',
  response_bytes: '$context.responseLength',
  // Which of the gateway's own answers it was (`THROTTLED`, `INTEGRATION_TIMEOUT` …), when no function answered.
  gateway_response: '$context.error.responseType',
};

/** How the stage admits and records requests. */
export function gatewayStage(scope: Construct): apigateway.StageOptions {
  const accessLog = new logs.LogGroup(scope, 'AccessLog', {
    retention: logs.RetentionDays.ONE_MONTH,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  return {
    stageName: 'live',
    throttlingRateLimit: RATE_PER_SECOND,
    throttlingBurstLimit: BURST,
    accessLogDestination: new apigateway.LogGroupLogDestination(accessLog),
    accessLogFormat: apigateway.AccessLogFormat.custom(JSON.stringify(ACCESS_LOG_FIELDS)),
  };
}

/** Accepts what the rules find in a gateway with this stage. */
export function acceptGateway(api: apigateway.RestApi): void {
  acceptFindings(api, {
    APIG2:
      'The functions check every request, and answer in the words of the contract; a model could not read multipart',
  });
  acceptFindings(api.deploymentStage, {
    APIG3: 'It would see the addresses of CloudFront, not of clients; an operator’s web ACL is before the distribution',
    APIG6:
      'The access log has a line of every request; an execution log would repeat it, and nothing would expire there',
  });
  const managed = 'arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs';
  acceptFindings(api.node.findChild('CloudWatchRole'), {
    [`IAM4[Policy::${managed}]`]:
      'Serves all gateways of the account, so it has the policy that AWS documents for that role',
  });
}
