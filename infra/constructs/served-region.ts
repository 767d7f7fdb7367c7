import type { StackProps } from 'aws-cdk-lib';

/** The Region of everything that belongs to CloudFront and needs one: its metrics, alarms and web ACLs. */
export const EDGE_REGION = 'us-east-1';

/**
 * For a stack that CloudFront wants in us-east-1, wherever the service is: the Region of the service is in its name, so that
 * the stacks of a stage in several Regions stand there side by side.
 * @param region  of the service; absent without the CLI, when nobody deploys.
 */
export function servedFrom(id: string, region: string | undefined): StackProps {
  return { env: { region: EDGE_REGION }, ...(region !== undefined && { stackName: `${id}-${region}` }) };
}
