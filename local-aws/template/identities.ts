import { createHash } from 'node:crypto';
import type { Account } from '../aws-front/principals.ts';
import { secretArn } from '../aws-front/secrets-and-parameters.ts';

/** How other parts of a template refer to a resource. */
export interface Identity {
  /** The value of `Ref`. */
  readonly ref: string;
  /** The values of `Fn::GetAtt`, by attribute name. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** A resource while it is being identified. */
interface Unidentified extends ResourceKey {
  /** A resolved property; undefined when the template does not give it. */
  property(name: string): unknown;
}

type Identify = (resource: Unidentified) => Identity;

/** The types that other resources may refer to. Using an attribute that is not listed is an error. */
const IDENTITIES: Readonly<Record<string, Identify>> = {
  'AWS::ApiGateway::ApiKey': (resource) => byId(stableId(resource, 10, 'lower'), 'APIKeyId'),
  'AWS::ApiGateway::Deployment': (resource) => byId(stableId(resource, 6, 'lower'), 'DeploymentId'),
  'AWS::ApiGateway::Resource': (resource) => byId(stableId(resource, 6, 'lower'), 'ResourceId'),
  'AWS::ApiGateway::RestApi': (resource) => {
    const ref = stableId(resource, 10, 'lower');
    return { ref, attributes: { RestApiId: ref, RootResourceId: `${ref.slice(0, 8)}rt` } };
  },
  'AWS::ApiGateway::Stage': (resource) => named(String(resource.property('StageName'))),
  'AWS::ApiGateway::UsagePlan': (resource) => byId(stableId(resource, 6, 'lower'), 'Id'),
  'AWS::CloudFront::CachePolicy': (resource) => byId(uuidLike(resource), 'Id'),
  'AWS::CloudFront::Distribution': (resource) => {
    const ref = `E${stableId(resource, 13, 'upper')}`;
    return { ref, attributes: { Id: ref, DomainName: `d${stableId(resource, 13, 'lower')}.cloudfront.net` } };
  },
  'AWS::CloudFront::Function': (resource) => {
    const ref = `arn:aws:cloudfront::${resource.accountId}:function/${nameOf(resource, 'Name', 64)}`;
    return { ref, attributes: { FunctionARN: ref } };
  },
  'AWS::CloudFront::OriginAccessControl': (resource) => byId(`E${stableId(resource, 13, 'upper')}`, 'Id'),
  'AWS::CloudFront::OriginRequestPolicy': (resource) => byId(uuidLike(resource), 'Id'),
  'AWS::CloudFront::ResponseHeadersPolicy': (resource) => byId(uuidLike(resource), 'Id'),
  'AWS::DynamoDB::GlobalTable': (resource) => table(resource),
  'AWS::DynamoDB::Table': (resource) => table(resource),
  'AWS::Events::Rule': (resource) => {
    const ref = nameOf(resource, 'Name', 64);
    return { ref, attributes: { Arn: arn(resource, 'events', `rule/${ref}`) } };
  },
  'AWS::IAM::Role': (resource) => {
    const ref = nameOf(resource, 'RoleName', 64);
    return { ref, attributes: { Arn: `arn:aws:iam::${resource.accountId}:role/${ref}` } };
  },
  'AWS::Lambda::Function': (resource) => {
    const ref = nameOf(resource, 'FunctionName', 64);
    return { ref, attributes: { Arn: arn(resource, 'lambda', `function:${ref}`) } };
  },
  'AWS::Lambda::LayerVersion': (resource) =>
    named(arn(resource, 'lambda', `layer:${nameOf(resource, 'LayerName', 64)}:1`)),
  'AWS::Lambda::WebFunction': (resource) => {
    const ref = nameOf(resource, 'FunctionName', 64);
    return { ref, attributes: { FunctionArn: arn(resource, 'lambda', `web-function/${ref}`) } };
  },
  'AWS::Lambda::WebFunctionEndpoint': (resource) => {
    const id = stableId(resource, 16, 'lower');
    return { ref: id, attributes: { DomainName: `${id}.lambda-web.${resource.region}.on.aws` } };
  },
  'AWS::Lambda::WebFunctionRevision': (resource) => byId(stableId(resource, 16, 'lower'), 'RevisionId'),
  'AWS::Logs::DeliveryDestination': (resource) => {
    const ref = nameOf(resource, 'Name', 60);
    return { ref, attributes: { Arn: arn(resource, 'logs', `delivery-destination:${ref}`) } };
  },
  'AWS::Logs::LogGroup': (resource) => {
    const ref = nameOf(resource, 'LogGroupName', 512);
    return { ref, attributes: { Arn: arn(resource, 'logs', `log-group:${ref}:*`) } };
  },
  'AWS::S3::Bucket': (resource) => {
    const ref = nameOf(resource, 'BucketName', 63).toLowerCase();
    const attributes = {
      Arn: `arn:aws:s3:::${ref}`,
      DomainName: `${ref}.s3.amazonaws.com`,
      RegionalDomainName: `${ref}.s3.${resource.region}.amazonaws.com`,
    };
    return { ref, attributes };
  },
  'AWS::SQS::Queue': (resource) => {
    const name = nameOf(resource, 'QueueName', 80);
    const ref = `https://sqs.${resource.region}.amazonaws.com/${resource.accountId}/${name}`;
    return { ref, attributes: { Arn: arn(resource, 'sqs', name) } };
  },
  'AWS::SSM::Parameter': (resource) => {
    const ref = nameOf(resource, 'Name', 1_011);
    return { ref, attributes: { Value: String(resource.property('Value')) } };
  },
  'AWS::SecretsManager::Secret': (resource) => byId(secretArn(nameOf(resource, 'Name', 512), resource), 'Id'),
  // Copies an asset into a bucket. Here bucket and key of the copy are those of the asset, so that the asset can be found.
  'Custom::S3ObjectCopy': (resource) => ({
    ref: stableId(resource, 16, 'lower'),
    attributes: {
      Bucket: String(resource.property('SourceBucketName')),
      Key: String(resource.property('SourceObjectKey')),
      VersionId: stableId(resource, 32, 'lower'),
    },
  }),
};

/** @throws Error for a type that this file does not list. */
export function identify(type: string, resource: Unidentified): Identity {
  const identity = IDENTITIES[type];
  if (!identity)
    throw new Error(
      `the local AWS has no identity for ${type} (${resource.logicalId}): add it to template/identities.ts`,
    );
  return identity(resource);
}

const named = (ref: string): Identity => ({ ref, attributes: {} });

const byId = (ref: string, attribute: string): Identity => ({ ref, attributes: { [attribute]: ref } });

function table(resource: Unidentified): Identity {
  const ref = nameOf(resource, 'TableName', 255);
  return { ref, attributes: { Arn: arn(resource, 'dynamodb', `table/${ref}`) } };
}

function nameOf(resource: Unidentified, property: string, maxLength: number): string {
  const given = resource.property(property);
  return given === undefined ? physicalName(resource, maxLength) : String(given);
}

function arn({ region, accountId }: ResourceKey, service: string, resource: string): string {
  return `arn:aws:${service}:${region}:${accountId}:${resource}`;
}

function uuidLike(resource: ResourceKey): string {
  const id = stableId(resource, 32, 'lower');
  return [id.slice(0, 8), id.slice(8, 12), id.slice(12, 16), id.slice(16, 20), id.slice(20)].join('-');
}

/** Identifies a resource. What is derived from it is the same at every start. */
interface ResourceKey extends Account {
  readonly stack: string;
  readonly logicalId: string;
}

const LOWER = 'abcdefghijklmnopqrstuvwxyz0123456789';

const UPPER = LOWER.toUpperCase();

/**
 * A name in CloudFormation's form: `<stack>-<logical id>-<12 characters>`. The last part is random on AWS. Here it is derived
 * from the rest, so that a restart finds its data.
 * @param maxLength  the limit of the type. Longer names are cut before the last part.
 */
function physicalName(key: ResourceKey, maxLength: number): string {
  const suffix = stableId(key, 12, 'upper');
  return `${`${key.stack}-${key.logicalId}`.slice(0, maxLength - suffix.length - 1)}-${suffix}`;
}

/** An id in the form of AWS's, of `length` letters and digits. */
function stableId(key: ResourceKey, length: number, letters: 'lower' | 'upper'): string {
  const alphabet = letters === 'upper' ? UPPER : LOWER;
  const seed = [key.accountId, key.region, key.stack, key.logicalId].join('/');
  const digest = createHash('sha512').update(seed).digest();
  return [...digest.subarray(0, length)].map((byte) => alphabet[byte % alphabet.length]).join('');
}
