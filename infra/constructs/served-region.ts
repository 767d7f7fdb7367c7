import type { StackProps } from 'aws-cdk-lib';
import type { StageConfig } from '../settings/stage.ts';

/** The Region of CloudFront's metrics, alarms and web ACLs. */
export const EDGE_REGION = 'us-east-1';

/**
 * Returns the properties of a stack that must be in us-east-1 for CloudFront, wherever the service is. The stack's name
 * contains the Region of the service, so that the same stage can be deployed in several Regions.
 * @param place  Region and account of the service.
 */
export function servedFrom(id: string, { region, account }: StageConfig['place']): StackProps {
  const env = { region: EDGE_REGION, ...(account !== undefined && { account }) };
  return { env, ...(region !== undefined && { stackName: `${id}-${region}` }) };
}
