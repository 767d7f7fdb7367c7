import { Aws, Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import type { Needs } from '../../shared/route.ts';
import { TABLES, type TableName } from '../../shared/tables.ts';
import { commitCheckedOut } from '../settings/commit.ts';
import { parameterName, type StageConfig } from '../settings/stage.ts';
import { acceptFindings } from './accepted-finding.ts';
import type { SharedValue } from './shared-value.ts';

/** The prefixes of the bucket, and why a role may use all keys of a prefix. */
const KEY_PATTERNS = {
  'uploads/*': 'The key of a file is generated at random when it is uploaded; under this prefix there are only files',
  'incoming/*': 'The key of a direct upload is made of account and id; under this prefix there are only direct uploads',
} as const;

/** The data stack's resources that functions use: names of tables, of the bucket and of a log group, and ARNs of secrets. */
export interface SharedResources {
  readonly tables: Readonly<Record<TableName, SharedValue>>;
  readonly uploads: SharedValue;
  readonly loginClientSecret: SharedValue;
  readonly originSecret: SharedValue;
  readonly cdnUrl: SharedValue;
  /** The log group of the audit trail. */
  readonly auditLog: SharedValue;
  readonly auditLogArn: SharedValue;
}

/** Returns the ARN of a table for the stack of `user`. */
export function tableArn(user: Construct, table: SharedValue): string {
  return Stack.of(user).formatArn({ service: 'dynamodb', resource: 'table', resourceName: table.in(user) });
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
    const arn = tableArn(role, table);
    environment[TABLES[use.table].variable] = table.in(role);
    allow(
      role,
      use.actions.map((action) => `dynamodb:${action}`),
      [use.index === undefined ? arn : `${arn}/index/${use.index}`],
    );
  }
  for (const use of needs.uploads ?? []) {
    const bucket = resources.uploads.in(role);
    const arn = `arn:${Aws.PARTITION}:s3:::${bucket}`;
    environment.UPLOADS_BUCKET = bucket;
    allow(
      role,
      use.actions.map((action) => `s3:${action}`),
      use.keys ? use.keys.map((key) => `${arn}/${key}`) : [arn],
    );
    for (const key of use.keys ?? []) {
      acceptFindings(role.node.findChild('DefaultPolicy'), {
        [`IAM5[Resource::arn:<AWS::Partition>:s3:::<SharedUploadsBucket>/${key}]`]: KEY_PATTERNS[key],
      });
    }
  }
  for (const name of needs.limits ?? []) environment[name] = String(stage.limits[name]);
  for (const name of needs.secrets ?? []) {
    const arn = resources[name].in(role);
    environment[name === 'loginClientSecret' ? 'LOGIN_CLIENT_SECRET' : 'ORIGIN_SECRET'] = arn;
    allow(role, ['secretsmanager:GetSecretValue'], [arn]);
  }
  for (const name of needs.values ?? []) {
    if (name === 'cdnUrl') environment.CDN_URL = resources.cdnUrl.in(role);
    if (name === 'appUrl') {
      environment.APP_URL_PARAMETER = parameterName(stage.name, 'app-url');
      allowParameter(role, environment.APP_URL_PARAMETER);
    }
    if (name === 'loginProvider') {
      environment.LOGIN_PROVIDER_PARAMETER = parameterName(stage.name, 'login-provider');
      allowParameter(role, environment.LOGIN_PROVIDER_PARAMETER);
    }
    if (name === 'canaryKey') {
      environment.CANARY_KEY_PARAMETER = parameterName(stage.name, 'canary-key');
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
