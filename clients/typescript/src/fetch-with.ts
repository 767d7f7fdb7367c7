import { dispatcherFor } from './proxy.ts';

/** What the client uses of `fetch`. So it takes the `fetch` of every platform, and that of undici. */
export type Fetch = (
  url: string,
  // biome-ignore lint/suspicious/noExplicitAny: the types of these options differ between platforms.
  options?: any,
) => Promise<{
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  /** A `ReadableStream` of bytes. Only downloads read it. */
  readonly body: unknown;
  text(): Promise<string>;
}>;

/** Calls `fetch`, through the proxy that the environment names unless the caller brings a `fetch`. */
export async function fetchWith(using: Fetch | undefined, url: string, options: object): ReturnType<Fetch> {
  const dispatcher = using ? undefined : await dispatcherFor(url);
  return (using ?? (fetch as Fetch))(url, { ...options, ...(dispatcher && { dispatcher }) });
}
