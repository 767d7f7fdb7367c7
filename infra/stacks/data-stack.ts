import { type CfnOutput, type CfnResource, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as logs from 'aws-cdk-lib/aws-logs';
import * as s3 from 'aws-cdk-lib/aws-s3';
import * as secretsmanager from 'aws-cdk-lib/aws-secretsmanager';
import * as ssm from 'aws-cdk-lib/aws-ssm';
import type { Construct } from 'constructs';
import { DELETED_BYTES_KEPT_DAYS, directTicketMs, IDEMPOTENCY_TTL_MS } from '../../shared/contract/limits.ts';
import { TABLES, type TableDefinition, type TableName } from '../../shared/tables.ts';
import { acceptFindings } from '../constructs/accepted-finding.ts';
import { CdnDistribution } from '../constructs/cdn-distribution.ts';
import { addHelperLogs } from '../constructs/helper-logs.ts';
import type { SharedResources } from '../constructs/needs.ts';
import { PRIVATE_BUCKET } from '../constructs/private-bucket.ts';
import { readsOutputsOf } from '../constructs/reads-outputs.ts';
import { SharedValue } from '../constructs/shared-value.ts';
import { addressOf } from '../constructs/viewer-side.ts';
import { addOutput } from '../settings/outputs.ts';
import { deployedSettings, parameterName, type StageConfig } from '../settings/stage.ts';
import type { WebAcl } from './firewall-stack.ts';
import { replicateFiles } from './second-copy-stacks.ts';

/** The request metrics of the uploads bucket. They count only requests under the prefix of direct uploads. */
export const INCOMING_METRICS = { id: 'incoming', prefix: 'incoming/' };

export interface DataStackProps {
  readonly stage: StageConfig;
  /** The web ACL of both distributions, if they have one. */
  readonly webAcl: WebAcl | undefined;
}

/**
 * The resources that must outlive every deployment: the tables, the files, the secrets, the audit trail, and the distribution whose address
 * is in every link. This stack needs no other stack but the firewall and the second copy, if the stage has them. So a failed deployment of
 * other stacks cannot affect this one.
 */
export class DataStack extends Stack {
  readonly resources: SharedResources;
  readonly distributionId: SharedValue;
  /** The same id, for stacks in other Regions. */
  readonly distributionIdOutput: CfnOutput;

  constructor(scope: Construct, id: string, { stage, webAcl }: DataStackProps) {
    const keep = stage.keepsData;
    // Deleting this stack breaks every link. An operator who wants that turns the protection off first.
    super(scope, id, { terminationProtection: keep, env: stage.place });
    if (webAcl?.stack) readsOutputsOf(this, webAcl.stack);
    const tables = Object.fromEntries(
      Object.entries(TABLES).map(([name, table]) => [name, this.table(name as TableName, table, stage)]),
    ) as Record<TableName, dynamodb.ITableV2>;
    const auditLog = this.auditLog(keep);
    const uploads = this.uploadsBucket(stage);
    if (stage.secondCopy) replicateFiles(uploads, stage);
    const { distribution } = new CdnDistribution(this, 'Cdn', { uploads, stage, webAclArn: webAcl?.arn });
    this.distributionIdOutput = addOutput(this, 'CdnDistributionId', distribution.distributionId);
    // What is protected from deletion is created after the distribution, at which a first deployment fails most easily. So nothing is left
    // behind then: CloudFormation deletes what it has created, but it could not delete a protected resource.
    for (const { node } of [...Object.values(tables), auditLog]) node.addDependency(distribution);
    const removalPolicy = keep ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;
    const loginClientSecret = this.loginClientSecret(removalPolicy, stage);
    const originSecret = this.originSecret(removalPolicy);
    const share = (name: string, value: string) => new SharedValue(this, stage.name, name, value);
    this.distributionId = share('CdnDistributionId', distribution.distributionId);
    const cdnUrl = addressOf(distribution, stage.cdnDomain);
    this.resources = {
      tables: Object.fromEntries(
        Object.entries(tables).map(([name, { tableName }]) => [name, share(tableId(name), tableName)]),
      ) as Record<TableName, SharedValue>,
      uploads: share('UploadsBucket', uploads.bucketName),
      cdnUrl: share('CdnUrl', cdnUrl),
      loginClientSecret: share('LoginClientSecret', loginClientSecret.secretArn),
      originSecret: share('OriginSecret', originSecret.secretArn),
      auditLog: share('AuditLog', auditLog.logGroupName),
      auditLogArn: share('AuditLogArn', auditLog.logGroupArn),
    };
    // The environment of `npm run admin`. The command uses the operator's own credentials, so the stack grants it nothing.
    const operatorEnvironment = {
      ...Object.fromEntries(
        Object.entries(TABLES).map(([name, { variable }]) => [variable, tables[name as TableName].tableName]),
      ),
      STAGE: stage.name,
      CANARY_KEY_PARAMETER: parameterName(stage.name, 'canary-key'),
      UPLOADS_BUCKET: uploads.bucketName,
      AUDIT_LOG: auditLog.logGroupName,
      CDN_URL: cdnUrl,
      CDN_DISTRIBUTION_URL: addressOf(distribution, undefined),
      STORAGE_LIMIT_BYTES: String(stage.limits.STORAGE_LIMIT_BYTES),
    };
    new ssm.StringParameter(this, 'Operator', {
      parameterName: parameterName(stage.name, 'operator'),
      stringValue: this.toJsonString(operatorEnvironment),
      description: 'The environment of "npm run admin"',
    });
    new ssm.StringParameter(this, 'Settings', {
      parameterName: parameterName(stage.name, 'settings'),
      stringValue: JSON.stringify(deployedSettings(stage)),
      description: 'The settings of the last deployment, which the next one compares with its own',
    });
    addOutput(this, 'CdnDistributionDomain', distribution.distributionDomainName);
    addOutput(this, 'LoginClientSecretArn', loginClientSecret.secretArn);
    addOutput(this, 'OriginSecretArn', originSecret.secretArn);
    addHelperLogs(this);
  }

  /**
   * Creates a table, or refers to an existing (restored) one, which the stack does not manage. If the stack has made
   * a table before, a stage that keeps its data does not delete that table.
   */
  private table(name: TableName, table: TableDefinition, stage: StageConfig): dynamodb.ITableV2 {
    const id = tableId(name);
    const tableName = stage.restoredTables[name];
    return tableName === undefined
      ? this.newTable(id, table, stage.keepsData)
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
      removalPolicy: keep ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
    });
  }

  /**
   * The log group of the audit trail (decision 0035): the lines of the functions of logins, sessions and keys, and those of
   * `npm run admin`. No role of the service may delete or change a line.
   */
  private auditLog(keep: boolean): logs.LogGroup {
    const group = new logs.LogGroup(this, 'AuditLog', {
      retention: logs.RetentionDays.THREE_MONTHS,
      removalPolicy: keep ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
    });
    (group.node.defaultChild as logs.CfnLogGroup).deletionProtectionEnabled = keep;
    return group;
  }

  private loginClientSecret(removalPolicy: RemovalPolicy, stage: StageConfig): secretsmanager.Secret {
    const secret = new secretsmanager.Secret(this, 'LoginClientSecret', {
      description: 'OAuth client of the Google login: {"client_secret"}; the operator fills it in',
      removalPolicy,
    });
    // Locally no operator fills in this secret, and the parameter beside it. The local AWS finds both by this metadata, and enters a client
    // of its own provider.
    (secret.node.defaultChild as CfnResource).addMetadata(
      'local:login-provider',
      parameterName(stage.name, 'login-provider'),
    );
    acceptFindings(secret, {
      SMG4: 'Google creates it, so no function of the service can rotate it; the operator enters a new one',
    });
    return secret;
  }

  private originSecret(removalPolicy: RemovalPolicy): secretsmanager.Secret {
    const secret = new secretsmanager.Secret(this, 'OriginSecret', {
      // CloudFormation reads a secret again only when the template's reference changes. So a new value goes into the other slot (`a` or
      // `b`), and from then on the template refers to that slot.
      description: 'Proves that a request came through CloudFront, which sends slot `a` or `b`; functions accept both',
      generateSecretString: {
        secretStringTemplate: '{}',
        generateStringKey: 'a',
        passwordLength: 43,
        excludePunctuation: true,
      },
      removalPolicy,
    });
    acceptFindings(secret, {
      SMG4: 'CloudFront gets a new value only by a deployment, so the operator rotates it (setting originSecretSlot)',
    });
    return secret;
  }

  private uploadsBucket({ keepsData: keep, limits }: StageConfig): s3.Bucket {
    const bucket = new s3.Bucket(this, 'Uploads', {
      ...PRIVATE_BUCKET,
      // A deleted object is kept as an old version for some days, so that rows of a restored table find their objects.
      versioned: true,
      lifecycleRules: [
        {
          id: 'deleted-expires',
          prefix: 'uploads/',
          noncurrentVersionExpiration: Duration.days(DELETED_BYTES_KEPT_DAYS),
          expiredObjectDeleteMarker: true,
        },
        // The sweeper removes an object when its ticket ends. This rule removes objects without a row, and delete markers.
        {
          id: 'incoming-expires',
          prefix: 'incoming/',
          expiration: Duration.days(incomingKeptDays(limits.MAX_UPLOAD_SIZE_BYTES)),
          noncurrentVersionExpiration: Duration.days(1),
        },
        { id: 'abandoned-parts', abortIncompleteMultipartUploadAfter: Duration.days(1) },
      ],
      metrics: [INCOMING_METRICS],
      // Browsers send direct uploads from the dashboard's origin. Any origin is allowed: the signature authorizes the request.
      cors: [
        {
          allowedMethods: [s3.HttpMethods.PUT],
          allowedOrigins: ['*'],
          allowedHeaders: ['content-type', 'if-none-match', 'x-amz-checksum-sha256'],
          exposedHeaders: ['ETag'],
          maxAge: 3_600,
        },
      ],
      removalPolicy: keep ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
      autoDeleteObjects: !keep,
    });
    // Events go through EventBridge, because a direct notification would make this stack refer to the function's stack. CDK's
    // own option would add a function that turns these events on, although the bucket has a property for that.
    (bucket.node.defaultChild as s3.CfnBucket).notificationConfiguration = {
      eventBridgeConfiguration: { eventBridgeEnabled: true },
    };
    acceptFindings(bucket, {
      S1: 'A line of an access log would have the key of a file, which is its link. CloudFront logs downloads instead, without the address of the reader, and keeps that log for a week (decision 0029)',
    });
    return bucket;
  }
}

/**
 * Returns for how many days an object in `incoming/` is kept: until no ticket needs it any more. A ticket ends
 * {@link directTicketMs} after its last URL was signed, and requests with the same `Idempotency-Key` sign URLs for a day. If
 * the object expired earlier, its ticket could not be completed, and a URL could take bytes again (decision 0023).
 */
function incomingKeptDays(maxUploadSizeBytes: number): number {
  const longestMs = directTicketMs(maxUploadSizeBytes) + IDEMPOTENCY_TTL_MS;
  return Math.ceil(Duration.millis(longestMs).toDays({ integral: false }));
}

/** `FilesTable` for `files`. */
function tableId(name: string): string {
  return `${name[0]?.toUpperCase()}${name.slice(1)}Table`;
}

function attribute({ name, type }: { name: string; type: 'S' | 'N' }): dynamodb.Attribute {
  return { name, type: type === 'S' ? dynamodb.AttributeType.STRING : dynamodb.AttributeType.NUMBER };
}

function projection(include: readonly string[] | 'ALL') {
  if (include === 'ALL') return { projectionType: dynamodb.ProjectionType.ALL };
  if (include.length === 0) return { projectionType: dynamodb.ProjectionType.KEYS_ONLY };
  return { projectionType: dynamodb.ProjectionType.INCLUDE, nonKeyAttributes: [...include] };
}
