import type { Deployment, Properties } from '../template/deployment.ts';
import { readProperties } from '../template/read-properties.ts';

interface ApiStage {
  readonly apiId: string;
  readonly stage: string;
}

/**
 * The API keys that a stage takes, value to id: those that are enabled and in a usage plan of it.
 * Source: API Gateway Developer Guide, "Usage plans and API keys for REST APIs".
 * @throws Error naming a limit of a plan: nothing counts requests by key here.
 */
export function readApiKeys(deployment: Deployment, ofStage: ApiStage): ReadonlyMap<string, string> {
  const plans = deployment
    .resources('AWS::ApiGateway::UsagePlan')
    .filter((plan) => readStages(plan.logicalId, plan.properties()).some((stage) => isSame(stage, ofStage)));
  const keyIds = deployment
    .resources('AWS::ApiGateway::UsagePlanKey')
    .map((link) => readLink(link.logicalId, link.properties()))
    .filter(({ planId }) => plans.some((plan) => plan.ref === planId))
    .map(({ keyId }) => keyId);
  return new Map(
    deployment
      .resources('AWS::ApiGateway::ApiKey')
      .filter(({ ref }) => keyIds.includes(ref))
      .map((key) => [readValue(key.logicalId, key.properties()), key.ref] as const)
      .filter((entry): entry is readonly [string, string] => entry[0] !== undefined),
  );
}

const isSame = (a: ApiStage, b: ApiStage) => a.apiId === b.apiId && a.stage === b.stage;

function readStages(logicalId: string, properties: Properties): ApiStage[] {
  const stages = readProperties(logicalId, properties, (take) => take<Properties[]>('ApiStages', []), [
    'Description',
    'Tags',
    'UsagePlanName',
  ]);
  return stages.map((stage) =>
    readProperties(`${logicalId}.ApiStages`, stage, (take) => {
      refuseUnlessEmpty(logicalId, take('Throttle', {}));
      return { apiId: take('ApiId'), stage: take('Stage') };
    }),
  );
}

function refuseUnlessEmpty(logicalId: string, limits: Properties): void {
  if (Object.keys(limits).length > 0) throw new Error(`${logicalId}: the local gateway counts no requests by key`);
}

function readLink(logicalId: string, properties: Properties): { keyId: string; planId: string } {
  return readProperties(logicalId, properties, (take) => {
    if (take('KeyType') !== 'API_KEY') throw new Error(`${logicalId}: a key of a usage plan is an API_KEY`);
    return { keyId: take('KeyId'), planId: take('UsagePlanId') };
  });
}

/** @returns undefined for a key that is not enabled, which is the default. */
function readValue(logicalId: string, properties: Properties): string | undefined {
  return readProperties(
    logicalId,
    properties,
    (take) => {
      const value = take<string>('Value');
      // Source: API Gateway API Reference, CreateApiKey; the letters are those that every source agrees on.
      if (!/^[0-9A-Za-z-]{20,128}$/.test(value)) throw new Error(`${logicalId}: its value is no API key`);
      return take('Enabled', false) ? value : undefined;
    },
    ['Description', 'Name', 'Tags'],
  );
}
