import type { StackProps } from 'aws-cdk-lib';

/** The Region of CloudFront's metrics, alarms and web ACLs. */
export const EDGE_REGION = 'us-east-1';

/**
 * Returns the properties of a stack that must be in us-east-1 for CloudFront, wherever the service is. The stack's name
 * contains the Region of the service, so that the same stage can be deployed in several Regions.
 * @param region  the Region of the service; absent without the CLI, that is when nothing is deployed.
 */
export function servedFrom(id: string, region: string | undefined): StackProps {
  return { env: { region: EDGE_REGION }, ...(region !== undefined && { stackName: `${id}-${region}` }) };
}
