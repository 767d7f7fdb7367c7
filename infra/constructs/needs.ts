import { Stack } from 'aws-cdk-lib';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as s3 from 'aws-cdk-lib/aws-s3';
import type * as secretsmanager from 'aws-cdk-lib/aws-secretsmanager';
import { TABLES, type TableName } from '../../shared/aws/tables.ts';
import type { VariableName } from '../../shared/env.ts';
import type { LimitName } from '../../shared/limits.ts';
import { commitOfFunctions } from '../settings/commit.ts';
import { type AllowListName, canaryKeyParameterName, type StageConfig } from '../settings/stage.ts';
import { acceptFindings, arnInFindings } from './accepted-finding.ts';

/** A DynamoDB action without its prefix. A transaction needs the action of each of its items. */
type TableAction =
  | 'GetItem'
  | 'BatchGetItem'
  | 'Query'
  | 'Scan'
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  | 'BatchWriteItem'
  | 'ConditionCheckItem';

export interface TableUse {
  readonly table: TableName;
  readonly actions: readonly TableAction[];
  /** The index that the actions are for, instead of the table. */
  readonly index?: string;
}

/** The prefixes of the bucket, and why a role may use all keys of a prefix. */
const KEY_PATTERNS = {
  'uploads/*': 'The key of a file is generated at random when it is uploaded; under this prefix there are only files',
  'incoming/*': 'The key of a direct upload is made of account and id; under this prefix there are only direct uploads',
} as const;
type KeyPattern = keyof typeof KEY_PATTERNS;

interface BucketUse {
  /** Actions without the prefix `s3:`. */
  readonly actions: readonly string[];
  /** The keys that the actions are for. Absent for actions on the bucket itself. */
  readonly keys?: readonly KeyPattern[];
}

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

/** What one function needs. {@link bindNeeds} derives both its grants and its variables from this, so they always match. */
export interface Needs {
  readonly tables?: readonly TableUse[];
  readonly uploads?: readonly BucketUse[];
  readonly limits?: readonly LimitName[];
  readonly secrets?: readonly ('loginProvider' | 'originSecret')[];
  readonly values?: readonly ('cdnUrl' | 'appUrl' | 'canaryKey')[];
  /** The lists of who may log in, if they are not empty. */
  readonly optional?: readonly AllowListName[];
  /** Values of variables that only this function has, and that need no grant. */
  readonly variables?: Readonly<Partial<Record<VariableName, string>>>;
}

/**
 * Grants a role exactly what is in `needs`.
 * @returns the environment variables of the function. One of them, `NEEDED_VARIABLES`, lists the names of the others, so that the function
 *   can check when it loads that it has them all.
 */
export function bindNeeds(role: iam.Role, needs: Needs, resources: SharedResources, stage: StageConfig) {
  // The stage distinguishes the function's metrics from those of other stages.
  const environment: Record<string, string> = { STAGE: stage.name, COMMIT: commitOfFunctions() };
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
