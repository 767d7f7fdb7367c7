import { Aws, CfnResource, Fn, type IAspect, Stack } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/**
 * The types of CloudFront resources whose names must be unique in an account, and the property that holds the name. CDK's
 * generated names do not contain the Region, so the same stage in a second Region would have a name collision.
 */
const NAMES: Readonly<Record<string, readonly [property: string, attribute: string]>> = {
  'AWS::CloudFront::OriginAccessControl': ['OriginAccessControlConfig', 'originAccessControlConfig'],
  'AWS::CloudFront::OriginRequestPolicy': ['OriginRequestPolicyConfig', 'originRequestPolicyConfig'],
  'AWS::CloudFront::ResponseHeadersPolicy': ['ResponseHeadersPolicyConfig', 'responseHeadersPolicyConfig'],
};

/** This many characters of a name are kept: the lowest limit of these resources (64) less the longest name of a Region. */
const KEPT_LENGTH = 64 - '-ap-southeast-1'.length;

/** Appends the Region to the names of these resources. It keeps the end of each name, because CDK's names differ at their ends. */
export class NamesByRegion implements IAspect {
  visit(node: IConstruct): void {
    if (!CfnResource.isCfnResource(node)) return;
    const place = NAMES[node.cfnResourceType];
    if (!place) return;
    const [property, attribute] = place;
    const { name } = Stack.of(node).resolve((node as unknown as Record<string, unknown>)[attribute]);
    node.addPropertyOverride(`${property}.Name`, Fn.join('-', [String(name).slice(-KEPT_LENGTH), Aws.REGION]));
  }
}
