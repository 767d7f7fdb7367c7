import { Stack } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { acceptFindings, arnInFindings } from './accepted-finding.ts';

/**
 * Accepts what the rules find in the role of the function by which CDK copies assets into buckets of a stack: CDK makes it,
 * one a stack, and nothing calls it but CloudFormation, while it deploys.
 * @param actions  what CDK allows it by wildcards.
 * @param prefix  where in the bucket it copies to; empty: anywhere.
 */
export function acceptCopierRole(
  role: IConstruct,
  { bucket, prefix, actions }: { bucket: IConstruct; prefix: string; actions: readonly string[] },
): void {
  const managed = 'arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole';
  acceptFindings(role, {
    [`IAM4[Policy::${managed}]`]:
      'CDK makes this role of a deployment helper; the policy allows it to write its logs, no more',
  });
  const { synthesizer } = Stack.of(role);
  const assets = `cdk-${synthesizer.bootstrapQualifier}-assets-<AWS::AccountId>-<AWS::Region>`;
  const byAction = actions.map((action) => [
    `IAM5[Action::${action}]`,
    'CDK grants reading and writing by such groups; they hold for the buckets it copies from and to, and no others',
  ]);
  acceptFindings(role.node.findChild('DefaultPolicy'), {
    ...Object.fromEntries(byAction),
    [`IAM5[Resource::arn:<AWS::Partition>:s3:::${assets}/*]`]:
      'An asset has the hash of its content as its key, so deployments read ever others; the bucket holds assets alone',
    [`IAM5[Resource::${arnInFindings(bucket)}/${prefix}*]`]:
      'It copies our own files there, whose names are those of the build; nothing else is in that place',
  });
}
