import { CfnOutput, type Stack } from 'aws-cdk-lib';

/** The outputs of a deployment, by name. The table of docs/operate.md is generated from this object. */
export const OUTPUTS = {
  BaseUrl: { stack: 'Edge', meaning: 'Address of the API' },
  DashboardUrl: { stack: 'Edge', meaning: 'Address of the app; the dashboard is at `/dashboard`' },
  CdnUrl: { stack: 'Edge', meaning: 'The beginning of every link' },
  LoginRedirectUri: { stack: 'Edge', meaning: 'The authorised redirect URI of the Google OAuth client' },
  AppDistributionDomain: { stack: 'Edge', meaning: 'Where the DNS record of `appDomain` points' },
  CdnDistributionDomain: { stack: 'Data', meaning: 'Where the DNS record of `cdnDomain` points' },
  LoginClientSecretArn: { stack: 'Data', meaning: 'The secret of the Google OAuth client, for you to fill in' },
  OriginSecretArn: {
    stack: 'Data',
    meaning: 'The secret that proves to functions that a request came through the edge',
  },
  AppDistributionId: { stack: 'Edge', meaning: 'The distribution in front of API and dashboard' },
  CdnDistributionId: { stack: 'Data', meaning: 'The distribution of the links' },
  GatewayUrl: { stack: 'Api', meaning: 'The address of the gateway itself, which refuses every direct request' },
  FailedEventsQueueUrl: { stack: 'Api', meaning: 'The queue of events that failed at every attempt' },
  DirectUploadRole: { stack: 'Api', meaning: 'The role that signs the URLs of direct uploads' },
  StreamingRole: { stack: 'Streaming', meaning: 'The role of the streaming function' },
  PageTopic: { stack: 'Operations', meaning: 'The SNS topic of the alarms that wake a person' },
  TicketTopic: { stack: 'Operations', meaning: 'The SNS topic of the alarms that wait for a working day' },
  EdgePageTopic: { stack: 'EdgeAlarms', meaning: 'As `PageTopic`, for the alarms of the edge, in us-east-1' },
  EdgeTicketTopic: { stack: 'EdgeAlarms', meaning: 'As `TicketTopic`, for the alarms of the edge, in us-east-1' },
  RequestLog: { stack: 'EdgeAlarms', meaning: 'The log group in us-east-1 with a line for every request to the app' },
  DownloadLog: { stack: 'EdgeAlarms', meaning: 'The log group in us-east-1 with a line for every download' },
  OperationsDashboardUrl: { stack: 'Operations', meaning: 'The dashboard of the operator' },
} as const satisfies Record<string, { stack: string; meaning: string }>;

/** Adds one of these outputs to a stack. */
export function addOutput(stack: Stack, name: keyof typeof OUTPUTS, value: string): CfnOutput {
  return new CfnOutput(stack, name, { value, description: OUTPUTS[name].meaning });
}
