import { type CfnOutput, type CfnResource, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import type * as cloudfront from 'aws-cdk-lib/aws-cloudfront';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as s3 from 'aws-cdk-lib/aws-s3';
import * as secretsmanager from 'aws-cdk-lib/aws-secretsmanager';
import * as ssm from 'aws-cdk-lib/aws-ssm';
import type { Construct } from 'constructs';
import { TABLES, type TableDefinition, type TableName } from '../../shared/aws/tables.ts';
import { DELETED_BYTES_KEPT_DAYS } from '../../shared/limits.ts';
import { acceptFindings } from '../constructs/accepted-finding.ts';
import { CdnDistribution } from '../constructs/cdn-distribution.ts';
import { endHelperLogs } from '../constructs/helper-logs.ts';
import type { SharedResources } from '../constructs/needs.ts';
import { addressOf } from '../constructs/viewer-side.ts';
import { addOutput } from '../settings/outputs.ts';
import { operatorParameterName, type StageConfig } from '../settings/stage.ts';

/** The requests to the uploads bucket that S3 counts: those to the prefix at which direct uploads arrive. */
export const INCOMING_METRICS = { id: 'incoming', prefix: 'incoming/' };

/**
 * What must outlive every deployment: the tables, the files, the secrets, and the distribution whose address is in every
 * link. Nothing here points at another stack, so a failed deployment of the others cannot touch it.
 */
export class DataStack extends Stack {
  readonly resources: SharedResources;
  readonly distribution: cloudfront.Distribution;
  readonly distributionId: CfnOutput;

  constructor(scope: Construct, id: string, stage: StageConfig) {
    const keep = stage.name === 'prod';
    // With it go the names in every link: whoever means that takes the protection off first.
    super(scope, id, { terminationProtection: keep });
    const tables = Object.fromEntries(
      Object.entries(TABLES).map(([name, table]) => [name, this.table(name as TableName, table, stage)]),
    ) as Record<TableName, dynamodb.ITableV2>;
    const uploads = this.uploadsBucket(keep);
    this.distribution = new CdnDistribution(this, 'Cdn', { uploads, stage }).distribution;
    this.distributionId = addOutput(this, 'CdnDistributionId', this.distribution.distributionId);
    const removalPolicy = keep ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
    this.resources = {
      tables,
      uploads,
      cdnUrl: addressOf(this.distribution, stage.cdnDomain),
      loginProvider: this.loginProvider(removalPolicy),
      originSecret: new secretsmanager.Secret(this, 'OriginSecret', {
        // CloudFormation reads a secret only when its reference in the template changes, so a new value gets a new slot.
        description: 'What only our edge knows; functions take either slot, `a` or `b`, and the edge sends one of them',
        generateSecretString: {
          secretStringTemplate: '{}',
          generateStringKey: 'a',
          passwordLength: 43,
          excludePunctuation: true,
        },
        removalPolicy,
      }),
      appUrlParameterName: `/file-hosting/${stage.name}/app-url`,
    };
    acceptFindings(this.resources.loginProvider, {
      SMG4: 'Google makes it, in its console, so nothing here can renew it; the operator puts a new one here',
    });
    acceptFindings(this.resources.originSecret, {
      SMG4: 'CloudFront gets a new value by a deployment alone, so a rotation is two of them (context originSecretSlot)',
    });
    new ssm.StringParameter(this, 'Operator', {
      parameterName: operatorParameterName(stage.name),
      stringValue: this.toJsonString(this.operatorEnvironment(stage)),
      description: 'What "npm run admin" finds in its environment',
    });
    addOutput(this, 'CdnDistributionDomain', this.distribution.distributionDomainName);
    addOutput(this, 'LoginProviderSecretArn', this.resources.loginProvider.secretArn);
    addOutput(this, 'OriginSecretArn', this.resources.originSecret.secretArn);
    endHelperLogs(this);
  }

  /** With the operator's own credentials: nothing is granted here. */
  private operatorEnvironment(stage: StageConfig): Record<string, string> {
    const { tables, uploads, cdnUrl } = this.resources;
    return {
      ...Object.fromEntries(
        Object.entries(TABLES).map(([name, { variable }]) => [variable, tables[name as TableName].tableName]),
      ),
      UPLOADS_BUCKET: uploads.bucketName,
      CDN_URL: cdnUrl,
      CDN_DISTRIBUTION_URL: addressOf(this.distribution, undefined),
      STORAGE_LIMIT_BYTES: String(stage.limits.STORAGE_LIMIT_BYTES),
    };
  }

  /** A table of our own, or the one that took its place. The one it took it from stays: it was never the stack's to delete. */
  private table(name: TableName, table: TableDefinition, stage: StageConfig): dynamodb.ITableV2 {
    const id = `${name[0]?.toUpperCase()}${name.slice(1)}Table`;
    const tableName = stage.existingTables[name];
    return tableName === undefined
      ? this.newTable(id, table, stage.name === 'prod')
      : dynamodb.TableV2.fromTableName(this, id, tableName);
  }

  private newTable(id: string, table: TableDefinition, keep: boolean): dynamodb.TableV2 {
    const indexes = (of: TableDefinition['localIndexes']) => Object.entries(of ?? {});
    return new dynamodb.TableV2(this, id, {
      partitionKey: attribute(table.partitionKey),
      ...(table.sortKey && { sortKey: attribute(table.sortKey) }),
      ...(table.ttl !== undefined && { timeToLiveAttribute: table.ttl }),
      localSecondaryIndexes: indexes(table.localIndexes).map(([indexName, index]) => ({
        indexName,
        sortKey: attribute(index.sortKey),
        ...projection(index.include),
      })),
      globalSecondaryIndexes: indexes(table.globalIndexes).map(([indexName, index]) => ({
        indexName,
        partitionKey: attribute(index.partitionKey),
        sortKey: attribute(index.sortKey),
        ...projection(index.include),
      })),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: keep,
      removalPolicy: keep ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
  }

  private loginProvider(removalPolicy: RemovalPolicy): secretsmanager.Secret {
    const secret = new secretsmanager.Secret(this, 'LoginProvider', {
      description: 'OAuth client of the Google login: {"client_id", "client_secret"}; the operator fills it in',
      removalPolicy,
    });
    // On one machine nobody fills it in: the local environment finds it by this and names its own identity provider.
    (secret.node.defaultChild as CfnResource).addMetadata('local:secret', 'login-provider');
    return secret;
  }

  private uploadsBucket(keep: boolean): s3.Bucket {
    const bucket = new s3.Bucket(this, 'Uploads', {
      blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
      encryption: s3.BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
      // What is deleted stays behind a marker for some days, so that a table's restored rows can have their objects again.
      versioned: true,
      lifecycleRules: [
        {
          id: 'deleted-expires',
          prefix: 'uploads/',
          noncurrentVersionExpiration: Duration.days(DELETED_BYTES_KEPT_DAYS),
          expiredObjectDeleteMarker: true,
        },
        // A file that came directly has been copied: its first object is of no use to anybody. The age also ends markers.
        {
          id: 'incoming-expires',
          prefix: 'incoming/',
          expiration: Duration.days(1),
          noncurrentVersionExpiration: Duration.days(1),
        },
        { id: 'abandoned-parts', abortIncompleteMultipartUploadAfter: Duration.days(1) },
      ],
      metrics: [INCOMING_METRICS],
      // Direct uploads come from browsers, on the dashboard's origin; the signature is what admits them, not the origin.
      cors: [
        {
          allowedMethods: [s3.HttpMethods.PUT],
          allowedOrigins: ['*'],
          allowedHeaders: ['content-type', 'if-none-match', 'x-amz-checksum-sha256'],
          exposedHeaders: ['ETag'],
          maxAge: 3_600,
        },
      ],
      removalPolicy: keep ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
      autoDeleteObjects: !keep,
    });
    // Events go by EventBridge: a direct notification would make this stack point at the function's. CDK's own option would
    // set it by one more function, while the bucket has a property for it.
    (bucket.node.defaultChild as s3.CfnBucket).notificationConfiguration = {
      eventBridgeConfiguration: { eventBridgeEnabled: true },
    };
    acceptFindings(bucket, {
      S1: 'A line would hold the key of a file, which is its link, and an address; our functions log requests without',
    });
    return bucket;
  }
}

function attribute({ name, type }: { name: string; type: 'S' | 'N' }): dynamodb.Attribute {
  return { name, type: type === 'S' ? dynamodb.AttributeType.STRING : dynamodb.AttributeType.NUMBER };
}

function projection(include: readonly string[] | 'ALL') {
  if (include === 'ALL') return { projectionType: dynamodb.ProjectionType.ALL };
  if (include.length === 0) return { projectionType: dynamodb.ProjectionType.KEYS_ONLY };
  return { projectionType: dynamodb.ProjectionType.INCLUDE, nonKeyAttributes: [...include] };
}
