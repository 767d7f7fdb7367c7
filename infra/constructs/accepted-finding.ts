import { CfnResource, Stack, Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/**
 * Accepts findings of the AwsSolutions rules in one resource. A finding in any other resource fails the synthesis.
 * @param construct  a resource, or a construct whose main resource (only that one) has the findings.
 * @param reasons  the reason for each rule, by its id without the prefix: `S1`, or with the finding's detail,
 *   `IAM5[Action::s3:List*]`.
 * @throws Error when the construct has no main resource.
 */
export function acceptFindings(construct: IConstruct, reasons: Readonly<Record<string, string>>): void {
  const accepted = Object.entries(reasons).map(([rule, reason]) => ({
    id: `AwsSolutions::AwsSolutions-${rule}`,
    reason,
  }));
  Validations.of(mainResource(construct)).acknowledge(...accepted);
}

/** The text by which findings refer to the ARN of a construct's main resource. */
export function arnInFindings(construct: IConstruct): string {
  return `<${Stack.of(construct).getLogicalId(mainResource(construct))}.Arn>`;
}

function mainResource(construct: IConstruct): CfnResource {
  const resource = construct.node.defaultChild ?? construct;
  if (CfnResource.isCfnResource(resource)) return resource;
  throw new Error(`${construct.node.path} has no main resource`);
}
