import { Stack } from 'aws-cdk-lib';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as s3 from 'aws-cdk-lib/aws-s3';
import type * as secretsmanager from 'aws-cdk-lib/aws-secretsmanager';
import type { Needs } from '../../shared/route.ts';
import { TABLES, type TableName } from '../../shared/tables.ts';
import { commitCheckedOut } from '../settings/commit.ts';
import { canaryKeyParameterName, type StageConfig } from '../settings/stage.ts';
import { acceptFindings, arnInFindings } from './accepted-finding.ts';

/** The prefixes of the bucket, and why a role may use all keys of a prefix. */
const KEY_PATTERNS = {
  'uploads/*': 'The key of a file is generated at random when it is uploaded; under this prefix there are only files',
  'incoming/*': 'The key of a direct upload is made of account and id; under this prefix there are only direct uploads',
} as const;

/** The data stack's resources that functions use. */
export interface SharedResources {
  readonly tables: Readonly<Record<TableName, dynamodb.ITableV2>>;
  readonly uploads: s3.Bucket;
  readonly loginProvider: secretsmanager.Secret;
  readonly originSecret: secretsmanager.Secret;
  readonly appUrlParameterName: string;
  readonly cdnUrl: string;
  /** The log group of the audit trail. */
  readonly auditLog: { readonly name: string; readonly arn: string };
}

/**
 * Grants a role exactly what is in `needs`.
 * @returns the environment variables of the function. One of them, `NEEDED_VARIABLES`, lists the names of the others, so that the function
 *   can check when it loads that it has them all.
 */
export function bindNeeds(role: iam.Role, needs: Needs, resources: SharedResources, stage: StageConfig) {
  // The stage distinguishes the function's metrics from those of other stages.
  const environment: Record<string, string> = { STAGE: stage.name, COMMIT: commitCheckedOut() };
  for (const use of needs.tables ?? []) {
    const table = resources.tables[use.table];
    environment[TABLES[use.table].variable] = table.tableName;
    allow(
      role,
      use.actions.map((action) => `dynamodb:${action}`),
      [use.index === undefined ? table.tableArn : `${table.tableArn}/index/${use.index}`],
    );
  }
  for (const use of needs.uploads ?? []) {
    environment.UPLOADS_BUCKET = resources.uploads.bucketName;
    allow(
      role,
      use.actions.map((action) => `s3:${action}`),
      use.keys ? use.keys.map((key) => resources.uploads.arnForObjects(key)) : [resources.uploads.bucketArn],
    );
    for (const key of use.keys ?? []) {
      acceptFindings(role.node.findChild('DefaultPolicy'), {
        [`IAM5[Resource::${arnInFindings(resources.uploads)}/${key}]`]: KEY_PATTERNS[key],
      });
    }
  }
  for (const name of needs.limits ?? []) environment[name] = String(stage.limits[name]);
  for (const name of needs.secrets ?? []) {
    environment[name === 'loginProvider' ? 'LOGIN_PROVIDER_SECRET' : 'ORIGIN_SECRET'] = resources[name].secretArn;
    allow(role, ['secretsmanager:GetSecretValue'], [resources[name].secretArn]);
  }
  for (const name of needs.values ?? []) {
    if (name === 'cdnUrl') environment.CDN_URL = resources.cdnUrl;
    if (name === 'appUrl') {
      environment.APP_URL_PARAMETER = resources.appUrlParameterName;
      allowParameter(role, resources.appUrlParameterName);
    }
    if (name === 'canaryKey') {
      environment.CANARY_KEY_PARAMETER = canaryKeyParameterName(stage.name);
      // No grant on the KMS key is needed: the policy of AWS's key lets SSM decrypt for every role that may read the parameter.
      allowParameter(role, environment.CANARY_KEY_PARAMETER);
    }
  }
  for (const name of needs.optional ?? []) {
    const value = stage.allowLists[name];
    if (value) environment[name] = value;
  }
  Object.assign(environment, needs.variables);
  return { ...environment, NEEDED_VARIABLES: Object.keys(environment).join(',') };
}

function allowParameter(role: iam.Role, name: string): void {
  const parameter = { service: 'ssm', resource: 'parameter', resourceName: name.slice(1) };
  allow(role, ['ssm:GetParameter'], [Stack.of(role).formatArn(parameter)]);
}

function allow(role: iam.Role, actions: string[], resources: string[]): void {
  role.addToPolicy(new iam.PolicyStatement({ actions, resources }));
}
