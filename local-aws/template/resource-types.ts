/** Types that some part of the local environment makes something of; where is said in {@link MEANINGLESS_TYPES}' place. */
const USED_TYPES: ReadonlySet<string> = new Set([
  'AWS::ApiGateway::ApiKey',
  'AWS::ApiGateway::GatewayResponse',
  'AWS::ApiGateway::Method',
  'AWS::ApiGateway::Resource',
  'AWS::ApiGateway::RestApi',
  'AWS::ApiGateway::Stage',
  'AWS::ApiGateway::UsagePlan',
  'AWS::ApiGateway::UsagePlanKey',
  'AWS::CloudFront::CachePolicy',
  'AWS::CloudFront::Distribution',
  'AWS::CloudFront::Function',
  'AWS::CloudFront::OriginAccessControl',
  'AWS::CloudFront::OriginRequestPolicy',
  'AWS::CloudFront::ResponseHeadersPolicy',
  'AWS::DynamoDB::GlobalTable',
  'AWS::DynamoDB::Table',
  'AWS::Events::Rule',
  'AWS::IAM::ManagedPolicy',
  'AWS::IAM::Policy',
  'AWS::IAM::Role',
  'AWS::Lambda::EventInvokeConfig',
  'AWS::Lambda::Function',
  'AWS::Lambda::Permission',
  'AWS::Lambda::WebFunction',
  'AWS::Lambda::WebFunctionEndpoint',
  'AWS::Lambda::WebFunctionRevision',
  'AWS::S3::Bucket',
  'AWS::S3::BucketPolicy',
  'AWS::SSM::Parameter',
  'AWS::SecretsManager::Secret',
  'Custom::CDKBucketDeployment',
  'Custom::S3ObjectCopy',
]);

/** Types that may stand in a template and have no effect on one machine, each with the reason. */
export const MEANINGLESS_TYPES: Readonly<Record<string, string>> = {
  'AWS::ApiGateway::Account': 'says by which role the gateways of an account write their logs',
  'AWS::ApiGateway::Deployment': 'the methods as they stand in the template are what is deployed',
  'AWS::CDK::Metadata': 'tells AWS which constructs are used',
  'AWS::CloudWatch::Alarm': 'watches metrics, which nothing collects here',
  'AWS::CloudWatch::CompositeAlarm': 'watches alarms',
  'AWS::CloudWatch::Dashboard': 'shows metrics, which nothing collects here',
  'AWS::Lambda::LayerVersion': 'holds tools of the functions that CloudFormation calls while it deploys',
  'AWS::Logs::LogGroup': 'what functions write goes to whoever started the environment',
  'AWS::SNS::Subscription': 'says who is told of alarms',
  'AWS::SNS::Topic': 'tells of alarms',
  'AWS::SNS::TopicPolicy': 'says who may tell of alarms',
  'AWS::SQS::Queue': 'events that a function failed at are kept in memory, with the name of the queue they are for',
  'AWS::SQS::QueuePolicy': 'says who may reach a queue',
  'Custom::S3AutoDeleteObjects': 'acts when a stack is deleted',
};

/** @throws Error naming a type that is neither used nor known to mean nothing here. */
export function checkResourceType(type: string, logicalId: string): void {
  if (USED_TYPES.has(type) || Object.hasOwn(MEANINGLESS_TYPES, type)) return;
  throw new Error(
    `the local environment has nothing for ${type} (${logicalId}): make something of it, or list it in resource-types.ts with the reason why it means nothing on one machine`,
  );
}
