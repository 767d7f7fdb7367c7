import type { NodeHttpHandler } from '@smithy/node-http-handler';

/**
 * Gives clients of the product a minute for each attempt of a call. In tests of modules the product, the servers and the test share one
 * thread. When many calls are made at once on a busy machine, the product's own time limits would fail calls although the code is right.
 */
export function bePatient(...clients: readonly { readonly config: { readonly requestHandler: unknown } }[]): void {
  for (const { config } of clients) {
    const connections = config.requestHandler as NodeHttpHandler;
    connections.updateHttpClientConfig('connectionTimeout', 60_000);
    connections.updateHttpClientConfig('requestTimeout', 60_000);
  }
}
