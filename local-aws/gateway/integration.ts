import type { Properties } from '../template/deployment.ts';
import { readProperties } from '../template/read-properties.ts';

/** What answers a method. */
export interface Integration {
  readonly functionArn: string;
  /** Whether it refuses requests without an API key of the stage. */
  readonly needsApiKey: boolean;
  readonly timeoutMilliseconds: number;
}

/** What the gateway waits for a function unless the template says less. Source: API Gateway quotas. */
const TIMEOUT_MILLISECONDS = 29_000;

/** @throws Error for anything but a Lambda proxy integration. */
export function readIntegration(logicalId: string, properties: Properties, needsApiKey: boolean): Integration {
  return readProperties(`${logicalId}.Integration`, properties, (take) => {
    const type = take<string>('Type');
    const method = take<string>('IntegrationHttpMethod');
    if (type !== 'AWS_PROXY' || method !== 'POST') {
      throw new Error(`${logicalId}: the local gateway does not do ${type} integrations by ${method}`);
    }
    const functionArn = /:lambda:path\/2015-03-31\/functions\/(.+)\/invocations$/.exec(take<string>('Uri'))?.[1];
    if (functionArn === undefined) throw new Error(`${logicalId}: its integration is no Lambda function`);
    return { functionArn, needsApiKey, timeoutMilliseconds: Number(take('TimeoutInMillis', TIMEOUT_MILLISECONDS)) };
  });
}
