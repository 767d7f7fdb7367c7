import { Stack, Token } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { acceptFindings, arnInFindings } from './accepted-finding.ts';

/**
 * Accepts the findings in the role of the function with which CDK copies assets into a stack's buckets. CDK creates one such function per
 * stack. Only CloudFormation calls the function, during a deployment.
 * @param actions  the actions with wildcards that CDK grants the role.
 * @param prefix  the prefix of the keys that the function writes; '' for the whole bucket.
 */
export function acceptCopierRole(
  role: IConstruct,
  { bucket, prefix, actions }: { bucket: IConstruct; prefix: string; actions: readonly string[] },
): void {
  const managed = 'arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole';
  acceptFindings(role, {
    [`IAM4[Policy::${managed}]`]:
      'CDK creates this role for a deployment helper; the policy allows it only to write its logs',
  });
  const { synthesizer, partition, account, region } = Stack.of(role);
  // If the stage names its Region (and account), the ARN contains them; otherwise it contains pseudo parameters.
  const known = (value: string, parameter: string) => (Token.isUnresolved(value) ? `<AWS::${parameter}>` : value);
  const bucketOfAssets = `cdk-${synthesizer.bootstrapQualifier}-assets-${known(account, 'AccountId')}-${known(region, 'Region')}`;
  const assets = `arn:${known(partition, 'Partition')}:s3:::${bucketOfAssets}`;
  const byAction = actions.map((action) => [
    `IAM5[Action::${action}]`,
    'CDK grants reading and writing by such groups of actions, only on the buckets that it copies from and to',
  ]);
  acceptFindings(role.node.findChild('DefaultPolicy'), {
    ...Object.fromEntries(byAction),
    [`IAM5[Resource::${assets}/*]`]:
      'The key of an asset is the hash of its content, so each deployment reads other keys; the bucket holds only assets',
    [`IAM5[Resource::${arnInFindings(bucket)}/${prefix}*]`]:
      'It copies our own files there, under the names that the build gives them; nothing else is under this prefix',
  });
}
