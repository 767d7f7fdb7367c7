import type { IPolicyValidationContext, PolicyValidationPluginReport } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';

/** An attribute of another stack's resource, as cdk-nag has it in what it found: with names that CDK makes up. */
const FROM_ANOTHER_STACK =
  /\{"Fn::GetStackOutput":\{[^{}]*(?:\{[^{}]*\}[^{}]*)?"PublishOutputFnGetAtt(\w+)Arn[0-9A-F]{8}"\}\}/g;

/**
 * The AwsSolutions rules of cdk-nag. A bucket of another stack stands in a finding as one of the same stack does,
 * `<Uploads4F6EB0FD.Arn>`, so that the finding can be named where the bucket is used.
 */
export class AwsSolutionsRules extends AwsSolutionsChecks {
  override validate(context: IPolicyValidationContext): PolicyValidationPluginReport {
    const report = super.validate(context);
    const violations = report.violations.map((violation) => ({
      ...violation,
      ruleName: violation.ruleName.replaceAll(FROM_ANOTHER_STACK, '<$1.Arn>'),
    }));
    return { ...report, violations };
  }
}
