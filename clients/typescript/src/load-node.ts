export interface Socket {
  once(event: 'connect' | 'secureConnect', listener: () => void): Socket;
  once(event: 'error', listener: (error: Error & { readonly code: string }) => void): Socket;
  destroy(): void;
}

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** A path as text, or as the bytes of a name that is no text. */
export type Path = string | Uint8Array;

/** The functions of Node's modules that are used here. */
interface NodeModules {
  'node:url': { fileURLToPath(url: URL): string };
  'node:fs': { openAsBlob(path: Path): Promise<Blob>; createReadStream(path: Path): AsyncIterable<Uint8Array> };
  'node:fs/promises': {
    stat(path: Path): Promise<{ readonly size: number; isFile(): boolean }>;
    open(path: Path): Promise<{
      read(into: Uint8Array, offset: number, length: number, position: number): Promise<{ readonly bytesRead: number }>;
      close(): Promise<void>;
    }>;
  };
  'node:http': {
    request(options: {
      readonly method: string;
      readonly path: string;
      readonly headers: Readonly<Record<string, string>>;
      createConnection(): Socket;
    }): {
      once(event: 'connect', listener: (answer: { readonly statusCode: number }, socket: Socket) => void): void;
      once(event: 'error', listener: (error: Error) => void): void;
      end(): void;
    };
  };
  'node:net': {
    BlockList: new () => {
      addSubnet(network: string, prefix: number, family: string): void;
      check(address: string, family: string): boolean;
    };
    connect(endpoint: Endpoint): Socket;
    /** @returns 4, 6, or 0 for another text. */
    isIP(text: string): number;
  };
  'node:tls': {
    connect(
      options: (Endpoint | { readonly socket: Socket }) & { servername: string; ALPNProtocols: string[] },
    ): Socket;
  };
}

/**
 * Loads a module of Node. Bundlers leave this import alone, so the client can be bundled for browsers, where this function is never called.
 */
export const loadNode = <Name extends keyof NodeModules>(name: Name): Promise<NodeModules[Name]> =>
  import(/* @vite-ignore */ /* webpackIgnore: true */ name);
