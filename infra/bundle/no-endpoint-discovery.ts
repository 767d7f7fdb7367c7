/**
 * Replaces the SDK's endpoint discovery in the bundles. The client of DynamoDB would always set up endpoint discovery, with a cache of a
 * thousand entries, but no operation that we call uses it. An operation that uses it would fail here.
 */
export const resolveEndpointDiscoveryConfig = <Config>(config: Config): Config => config;

export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = {
  environmentVariableSelector: () => false,
  configFileSelector: () => false,
  default: false,
};

export function getEndpointDiscoveryPlugin(): never {
  throw new Error('this bundle has no endpoint discovery (infra/bundle/no-endpoint-discovery.ts)');
}
