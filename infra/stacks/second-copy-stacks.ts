import { Aws, Duration, Fn, RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as backup from 'aws-cdk-lib/aws-backup';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as s3 from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import type { TableName } from '../../shared/tables.ts';
import { acceptFindings, arnInFindings } from '../constructs/accepted-finding.ts';
import { type SharedResources, tableArn } from '../constructs/needs.ts';
import { PRIVATE_BUCKET } from '../constructs/private-bucket.ts';
import type { SecondCopy, StageConfig } from '../settings/stage.ts';

/** The tables whose rows cannot be made again. The rows of the others expire within a month. */
const COPIED_TABLES: readonly TableName[] = ['accounts', 'files', 'apiKeys'];

interface SecondCopyProps {
  readonly stage: StageConfig;
  readonly copy: SecondCopy;
}

/**
 * The names of the bucket and the vault in the second Region. They are made of the stage, the account and the Region of the service. So
 * stacks in other Regions know them without reading an output.
 */
function namesOfCopy({ name, place }: StageConfig): { bucket: string; vault: string } {
  const region = place.region ?? Aws.REGION;
  return {
    bucket: Fn.join('-', ['filehosting', name, 'copy', Aws.ACCOUNT_ID, region]),
    vault: `FileHosting-${name}-copy-${region}`,
  };
}

/** The copies, in the second Region: a bucket to which S3 replicates the files, and a vault for backups of the tables. */
export class SecondCopyStack extends Stack {
  constructor(scope: Construct, id: string, { stage, copy }: SecondCopyProps) {
    const { region, account } = stage.place;
    const env = { region: copy.region, ...(account !== undefined && { account }) };
    super(scope, id, { env, stackName: `${id}-${region}`, terminationProtection: true });
    const names = namesOfCopy(stage);
    const bucket = new s3.Bucket(this, 'Files', {
      bucketName: names.bucket,
      ...PRIVATE_BUCKET,
      // Replication needs versions. A deletion is replicated as a marker, and the bytes behind it are kept for some days.
      versioned: true,
      lifecycleRules: [
        {
          id: 'deleted-expires',
          noncurrentVersionExpiration: Duration.days(copy.keepDays),
          expiredObjectDeleteMarker: true,
        },
      ],
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    acceptFindings(bucket, { S1: 'Only S3 writes to it, and only an operator who restores from it reads it' });
    lockedVault(this, names.vault, copy);
  }
}

/** The daily backups of the tables, in the Region of the service, each with a copy in the second Region. */
export class BackupStack extends Stack {
  constructor(
    scope: Construct,
    id: string,
    { stage, copy, resources }: SecondCopyProps & { resources: SharedResources },
  ) {
    super(scope, id, { env: stage.place });
    const vault = lockedVault(this, `FileHosting-${stage.name}`, copy);
    const lifecycle = { deleteAfterDays: copy.keepDays };
    const plan = new backup.CfnBackupPlan(this, 'Plan', {
      backupPlan: {
        backupPlanName: `FileHosting-${stage.name}`,
        backupPlanRule: [
          {
            ruleName: 'daily',
            targetBackupVault: vault.ref,
            scheduleExpression: 'cron(0 3 * * ? *)',
            lifecycle,
            copyActions: [
              {
                destinationBackupVaultArn: `arn:${Aws.PARTITION}:backup:${copy.region}:${Aws.ACCOUNT_ID}:backup-vault:${namesOfCopy(stage).vault}`,
                lifecycle,
              },
            ],
          },
        ],
      },
    });
    const role = new iam.Role(this, 'Role', {
      assumedBy: new iam.ServicePrincipal('backup.amazonaws.com'),
      managedPolicies: [iam.ManagedPolicy.fromAwsManagedPolicyName('service-role/AWSBackupServiceRolePolicyForBackup')],
    });
    acceptFindings(role, {
      'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForBackup]':
        'AWS Backup uses it, with the policy that AWS documents for that; no code of ours can assume it',
    });
    new backup.CfnBackupSelection(this, 'Tables', {
      backupPlanId: plan.attrBackupPlanId,
      backupSelection: {
        selectionName: 'tables',
        iamRoleArn: role.roleArn,
        resources: COPIED_TABLES.map((name) => tableArn(this, resources.tables[name])),
      },
    });
  }
}

/**
 * A vault that keeps each backup for a number of days. Its lock is in governance mode: to delete a backup earlier, an administrator must
 * remove the lock first. In compliance mode nothing could remove the lock, not even after a mistake.
 */
function lockedVault(stack: Stack, backupVaultName: string, { keepDays }: SecondCopy): backup.CfnBackupVault {
  const vault = new backup.CfnBackupVault(stack, 'Vault', {
    backupVaultName,
    lockConfiguration: { minRetentionDays: keepDays },
  });
  vault.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
  return vault;
}

/** Makes S3 replicate the files of a bucket, and their deletions, to the bucket in the second Region. */
export function replicateFiles(bucket: s3.Bucket, stage: StageConfig): void {
  const destination = `arn:${Aws.PARTITION}:s3:::${namesOfCopy(stage).bucket}`;
  const role = new iam.Role(bucket, 'ReplicationRole', { assumedBy: new iam.ServicePrincipal('s3.amazonaws.com') });
  const allow = (actions: string[], resources: string[]) =>
    role.addToPolicy(new iam.PolicyStatement({ actions, resources }));
  allow(['s3:GetReplicationConfiguration', 's3:ListBucket'], [bucket.bucketArn]);
  allow(
    ['s3:GetObjectVersionForReplication', 's3:GetObjectVersionAcl', 's3:GetObjectVersionTagging'],
    [bucket.arnForObjects('uploads/*')],
  );
  allow(['s3:ReplicateObject', 's3:ReplicateDelete', 's3:ReplicateTags'], [`${destination}/uploads/*`]);
  acceptFindings(role.node.findChild('DefaultPolicy'), {
    [`IAM5[Resource::${arnInFindings(bucket)}/uploads/*]`]:
      'S3 itself replicates all files with it, and only S3 can assume it',
    [`IAM5[Resource::arn:<AWS::Partition>:s3:::filehosting-${stage.name}-copy-<AWS::AccountId>-${stage.place.region}/uploads/*]`]:
      'S3 itself replicates all files with it, and only S3 can assume it',
  });
  (bucket.node.defaultChild as s3.CfnBucket).replicationConfiguration = {
    role: role.roleArn,
    rules: [
      {
        id: 'second-copy',
        status: 'Enabled',
        priority: 0,
        filter: { prefix: 'uploads/' },
        deleteMarkerReplication: { status: 'Enabled' },
        destination: { bucket: destination },
      },
    ],
  };
}
