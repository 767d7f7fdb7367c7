import type { IPolicyValidationContext, PolicyValidationPluginReport } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';

/** Matches an attribute of another stack's resource as cdk-nag reports it, with CDK's generated names. */
const FROM_ANOTHER_STACK =
  /\{"Fn::GetStackOutput":\{[^{}]*(?:\{[^{}]*\}[^{}]*)?"PublishOutputFnGetAtt(\w+)Arn[0-9A-F]{8}"\}\}/g;

/**
 * The AwsSolutions rules of cdk-nag. Here their findings name a resource of another stack like one of the same stack:
 * `<Uploads4F6EB0FD.Arn>`, for example. So {@link acceptFindings} can name it.
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
