import { Aws, CfnResource, Fn, type IAspect, Stack } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/**
 * What CloudFront has one name for in a whole account, and where the name stands. CDK puts no Region into these names, so the
 * same stage in a second Region would find them taken.
 */
const NAMES: Readonly<Record<string, readonly [property: string, attribute: string]>> = {
  'AWS::CloudFront::OriginAccessControl': ['OriginAccessControlConfig', 'originAccessControlConfig'],
  'AWS::CloudFront::OriginRequestPolicy': ['OriginRequestPolicyConfig', 'originRequestPolicyConfig'],
  'AWS::CloudFront::ResponseHeadersPolicy': ['ResponseHeadersPolicyConfig', 'responseHeadersPolicyConfig'],
};

/** Of the 64 characters that the shortest of them may have, what the longest name of a Region leaves. */
const KEPT = 64 - '-ap-southeast-1'.length;

/** Puts the Region into names that are unique in an account, keeping their end, by which CDK tells them apart. */
export class NamesByRegion implements IAspect {
  visit(node: IConstruct): void {
    if (!CfnResource.isCfnResource(node)) return;
    const place = NAMES[node.cfnResourceType];
    if (!place) return;
    const [property, attribute] = place;
    const { name } = Stack.of(node).resolve((node as unknown as Record<string, unknown>)[attribute]);
    node.addPropertyOverride(`${property}.Name`, Fn.join('-', [String(name).slice(-KEPT), Aws.REGION]));
  }
}
