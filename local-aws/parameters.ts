import type { Deployment } from './template/deployment.ts';
import { readProperties } from './template/read-properties.ts';

/** The SSM parameters of the template: value by name. */
export function readParameters(deployment: Deployment): Record<string, string> {
  return Object.fromEntries(
    deployment.resources('AWS::SSM::Parameter').map((resource) => [
      resource.ref,
      readProperties(
        resource.logicalId,
        resource.properties(),
        (take) => {
          const type = take<string>('Type');
          if (type !== 'String') throw new Error(`${resource.logicalId}: no ${type} parameter on one machine`);
          return take<string>('Value');
        },
        ['Description', 'Name', 'Tags'],
      ),
    ]),
  );
}
