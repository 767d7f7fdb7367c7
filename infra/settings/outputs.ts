import { CfnOutput, type Stack } from 'aws-cdk-lib';

/** What a deployment tells its operator, by the name of the output. The table of docs/operate.md is made from this object. */
export const OUTPUTS = {
  BaseUrl: { stack: 'Edge', meaning: 'Address of the API' },
  DashboardUrl: { stack: 'Edge', meaning: 'Address of the dashboard for those who log in' },
  CdnUrl: { stack: 'Edge', meaning: 'What every link begins with' },
  LoginRedirectUri: { stack: 'Edge', meaning: 'The authorised redirect URI of the Google OAuth client' },
  AppDistributionDomain: { stack: 'Edge', meaning: 'Where the DNS record of `appDomain` points' },
  CdnDistributionDomain: { stack: 'Data', meaning: 'Where the DNS record of `cdnDomain` points' },
  LoginProviderSecretArn: { stack: 'Data', meaning: 'The secret with the Google OAuth client, for you to fill in' },
  OriginSecretArn: { stack: 'Data', meaning: 'The secret by which functions know the edge' },
  AppDistributionId: { stack: 'Edge', meaning: 'The distribution in front of API and dashboard' },
  CdnDistributionId: { stack: 'Data', meaning: 'The distribution of the links' },
  GatewayUrl: { stack: 'Api', meaning: 'The address of the gateway itself, where every request is refused' },
  FailedEventsQueueUrl: { stack: 'Api', meaning: 'The queue of events that were given up' },
  DirectUploadRole: { stack: 'Api', meaning: 'The role that signs the URLs of direct uploads' },
  AlarmTopic: { stack: 'Operations', meaning: 'The SNS topic that alarms tell' },
  EdgeAlarmTopic: { stack: 'EdgeAlarms', meaning: 'The SNS topic in us-east-1 that the alarms of the edge tell' },
  OperationsDashboardUrl: { stack: 'Operations', meaning: 'The dashboard that says whether the service is well' },
} as const satisfies Record<string, { stack: string; meaning: string }>;

/** Gives a stack one of the outputs it is to have. */
export function addOutput(stack: Stack, name: keyof typeof OUTPUTS, value: string): CfnOutput {
  return new CfnOutput(stack, name, { value, description: OUTPUTS[name].meaning });
}
