import { RemovalPolicy } from 'aws-cdk-lib';
import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as logs from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { ROUTES } from '../../functions/routes.ts';
import { type Access, methodsOf, type RateClass } from '../../shared/contract/route.ts';
import { METRIC_NAMESPACE } from '../../shared/metrics.ts';
import type { Route } from '../../shared/route.ts';
import { fixedName, type StageName } from '../settings/stage.ts';
import { acceptFindings } from './accepted-finding.ts';

/** How many requests of all clients together the gateway admits to one method of a path: in a second, and at the same moment. */
interface Throttle {
  readonly throttlingRateLimit: number;
  readonly throttlingBurstLimit: number;
}

/**
 * The throttles by class of the route. They are for all clients together; the functions limit each account. By default an AWS account runs
 * 1,000 functions at once. So a flood of requests to one method of a route takes at most a third of them, even when every answer takes a
 * second. The rest is left for the other routes, events and the sweeper. Above its throttle a route answers with our own 429. All APIs of
 * an account share a limit: 10,000 requests per second, or 2,500 in newer Regions. The sum of the throttles of the routes is below both.
 * The catch-alls for unknown paths and methods are not counted in the sum.
 */
const THROTTLES: Readonly<Record<RateClass, Throttle>> = {
  uploads: { throttlingRateLimit: 300, throttlingBurstLimit: 150 },
  lists: { throttlingRateLimit: 300, throttlingBurstLimit: 150 },
  requests: { throttlingRateLimit: 100, throttlingBurstLimit: 50 },
  'login-starts': { throttlingRateLimit: 50, throttlingBurstLimit: 50 },
  'login-callbacks': { throttlingRateLimit: 50, throttlingBurstLimit: 50 },
};

/** The throttle of routes that are not counted, and of all other paths and methods. */
const OTHER_ROUTES: Throttle = { throttlingRateLimit: 50, throttlingBurstLimit: 50 };

export function throttleOf({ rateClass }: Route): Throttle {
  return rateClass === undefined ? OTHER_ROUTES : THROTTLES[rateClass];
}

/**
 * One log line per request. The route is the template of the path, such as `/api/v1/files/{id}`. So the line contains no id, name or query
 * string. It has no address or header either. The function's own line with the same request id names the account. A missing value is `-`,
 * so numbers are quoted as well. Source: API Gateway Developer Guide, "Variables for access logging".
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
  // The type of the gateway's own response (`THROTTLED`, `INTEGRATION_TIMEOUT` …), when no function answered.
  gateway_response: '$context.error.responseType',
};

/** The name of the gateway's only stage, which is in the path of its address. */
export const GATEWAY_STAGE = 'live';

/**
 * The settings of the gateway's stage: throttling and access log.
 * @param stage  is part of the name of the metric, because a metric filter cannot give its metric a fixed dimension.
 * @returns the settings, the name of the access log, and metrics that count throttled requests, and those of the login alone. The gateway's
 *   own metrics count only all 4xx together.
 */
export function gatewayStage(
  scope: Construct,
  stage: StageName,
): {
  options: apigateway.StageOptions;
  throttles: cloudwatch.Metric;
  loginThrottles: cloudwatch.Metric;
  accessLogName: string;
} {
  const accessLogName = fixedName(stage, 'gateway');
  const accessLog = new logs.LogGroup(scope, 'AccessLog', {
    logGroupName: accessLogName,
    retention: logs.RetentionDays.ONE_MONTH,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  const isThrottled = logs.FilterPattern.stringValue('$.gateway_response', '=', 'THROTTLED');
  const isLogin = logs.FilterPattern.stringValue('$.route', '=', `GET ${ROUTES.startLogin.path}*`);
  const metricOf = (id: string, metricName: string, filterPattern: logs.IFilterPattern) =>
    accessLog.addMetricFilter(id, { filterPattern, metricNamespace: METRIC_NAMESPACE, metricName }).metric();
  const throttles = metricOf('Throttles', `GatewayThrottles-${stage}`, isThrottled);
  const loginThrottles = metricOf(
    'LoginThrottles',
    `LoginThrottles-${stage}`,
    logs.FilterPattern.all(isThrottled, isLogin),
  );
  return { options: stageOptions(accessLog), throttles, loginThrottles, accessLogName };
}

function stageOptions(accessLog: logs.LogGroup): apigateway.StageOptions {
  return {
    stageName: GATEWAY_STAGE,
    ...OTHER_ROUTES,
    methodOptions: Object.fromEntries(
      Object.values<Route>(ROUTES).flatMap((route) =>
        methodsOf(route).map((method) => [`${route.path}/${method}`, throttleOf(route)]),
      ),
    ),
    accessLogDestination: new apigateway.LogGroupLogDestination(accessLog),
    accessLogFormat: apigateway.AccessLogFormat.custom(JSON.stringify(ACCESS_LOG_FIELDS)),
  };
}

/** Accepts the findings in a gateway with this stage. */
export function acceptGateway(api: apigateway.RestApi): void {
  acceptFindings(api, {
    APIG2:
      'The functions check every request and answer with the errors of the contract; a model cannot validate multipart',
  });
  acceptFindings(api.deploymentStage, {
    APIG3:
      'A web ACL on the gateway would see the addresses of CloudFront, not of clients; an operator’s web ACL is on the distribution',
    APIG6:
      'The access log has a line for every request; an execution log would repeat that line, and would never expire',
  });
  const managed = 'arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs';
  acceptFindings(api.node.findChild('CloudWatchRole'), {
    [`IAM4[Policy::${managed}]`]:
      'It serves all gateways of the account, so it has the policy that AWS documents for that role',
  });
}

const BY_FUNCTION = 'rejects a request without one with 401 before it reaches any data';

/** Why the gateway itself does not authorize requests. */
const REASONS: Readonly<Record<Access | 'unknown', string>> = {
  public: 'The route is public on purpose: a health check, or the login, before which no user can be known',
  session: `The function reads the session from the cookie and ${BY_FUNCTION}`,
  'key-or-session': `The function reads the API key or the session and ${BY_FUNCTION}`,
  unknown: 'The function answers every request with 404 or 405, by its path alone, and reaches no data',
};

/** Accepts that the gateway forwards unauthenticated requests to the function of a route, or of unknown routes. */
export function acceptOwnAuthorization(method: apigateway.Method, access: Access | 'unknown'): void {
  acceptFindings(method, {
    APIG4: REASONS[access],
    COG4: 'There is no Cognito: accounts come from the Google login, sessions and API keys are rows of our own tables',
  });
}
