import type { StackProps } from 'aws-cdk-lib';
import { EDGE_REGION } from './watched.ts';

/**
 * For a stack that CloudFront wants in us-east-1, wherever the service is: the Region of the service is in its name, so that
 * the stacks of a stage in several Regions stand there side by side.
 * @param region  of the service; absent without the CLI, when nobody deploys.
 */
export function servedFrom(id: string, region: string | undefined): StackProps {
  return { env: { region: EDGE_REGION }, ...(region !== undefined && { stackName: `${id}-${region}` }) };
}
