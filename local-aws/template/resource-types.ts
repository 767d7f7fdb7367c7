/** The types that the local AWS implements. For the others that may be in a template see {@link NO_EFFECT_TYPES}. */
export const IMPLEMENTED_TYPES: ReadonlySet<string> = new Set([
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
  'AWS::IAM::Policy',
  'AWS::IAM::Role',
  'AWS::Lambda::EventInvokeConfig',
  'AWS::Lambda::Function',
  'AWS::Lambda::Permission',
  'AWS::Lambda::WebFunction',
  'AWS::Lambda::WebFunctionEndpoint',
  'AWS::Lambda::WebFunctionRevision',
  'AWS::Logs::Delivery',
  'AWS::Logs::DeliveryDestination',
  'AWS::Logs::DeliverySource',
  'AWS::Logs::LogGroup',
  'AWS::S3::Bucket',
  'AWS::S3::BucketPolicy',
  'AWS::SSM::Parameter',
  'AWS::SecretsManager::Secret',
  'Custom::CDKBucketDeployment',
  'Custom::S3ObjectCopy',
]);

/** The types that may be in a template but have no effect in the local AWS, each with the reason. */
const NO_EFFECT_TYPES: Readonly<Record<string, string>> = {
  'AWS::ApiGateway::Account': 'names the role by which the gateways of an account write their logs',
  'AWS::ApiGateway::Deployment': 'the methods in the template are what is deployed',
  'AWS::CDK::Metadata': 'tells AWS which constructs are used',
  'AWS::CloudWatch::Alarm': 'watches metrics, which the local AWS does not collect',
  'AWS::CloudWatch::CompositeAlarm': 'watches alarms',
  'AWS::CloudWatch::Dashboard': 'shows metrics, which the local AWS does not collect',
  'AWS::Lambda::LayerVersion': 'has tools for the functions that CloudFormation calls while it deploys',
  'AWS::Logs::MetricFilter': 'counts lines of a log group',
  'AWS::Logs::QueryDefinition': 'is a query that the console offers',
  'AWS::Logs::ResourcePolicy': 'says who may write to a log group',
  'AWS::SNS::Subscription': 'names the addresses that get alarms',
  'AWS::SNS::Topic': 'publishes alarms',
  'AWS::SNS::TopicPolicy': 'says who may publish alarms',
  'AWS::SQS::Queue': 'failed events are kept in memory, with the name of their queue',
  'AWS::SQS::QueuePolicy': 'says who may reach a queue',
  'Custom::S3AutoDeleteObjects': 'acts when a stack is deleted',
};

/** @throws Error naming a type that is neither implemented nor known to have no effect. */
export function checkResourceType(type: string, logicalId: string): void {
  if (IMPLEMENTED_TYPES.has(type) || Object.hasOwn(NO_EFFECT_TYPES, type)) return;
  throw new Error(
    `the local AWS has nothing for ${type} (${logicalId}): implement it, or list it in resource-types.ts with the reason why it has no effect in the local AWS`,
  );
}
