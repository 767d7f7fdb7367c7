import type * as bodies from './body-stream.ts';
import type * as connections from './connection-error.ts';
import { FileHostingError, invalid, NO_PATHS } from './error.ts';
import type * as paths from './open-path.ts';
import type * as proxies from './proxy.ts';
import type * as streams from './send-stream.ts';

// In bundles for browsers, this module takes the place of those that need Node, or a `fetch` that sends streams (`browser` in
// `package.json`).

/** A browser knows its proxies itself. */
export const dispatcherFor: typeof proxies.dispatcherFor = async () => undefined;

/** A browser does not say why a connection failed. */
export const connectionError: typeof connections.connectionError = (cause) =>
  cause instanceof FileHostingError ? cause : new FileHostingError('network_error', { cause });

const refuse = async (): Promise<never> => {
  throw invalid(NO_PATHS);
};
export const pathOf: typeof paths.pathOf = refuse;
export const openPath: typeof paths.openPath = refuse;

export const canCountBytes: typeof bodies.canCountBytes = () => false;
export const canSendStreams: typeof bodies.canSendStreams = () => false;
// Because of these two answers, nothing calls the following two.
export const counted: typeof bodies.counted = () => new ReadableStream();
export const sendStream: typeof streams.sendStream = refuse;
