import { invalid } from './error.ts';
import { type Endpoint, loadNode, type Socket } from './load-node.ts';

/** The part of Node's own `Agent` that is used here. A dispatcher carries the requests of `fetch`. */
interface Dispatcher {
  dispatch(request: DispatchedRequest, handler: unknown): boolean;
}

interface DispatchedRequest {
  readonly origin: string;
  readonly path: string;
  readonly headers: readonly string[] | Readonly<Record<string, string>>;
}

type Connect = (
  target: { readonly hostname: string; readonly port: string },
  done: (error: Error | null, socket?: unknown) => void,
) => void;

type NewDispatcher = new (options: { readonly connect: Connect }) => Dispatcher;

/** One for each proxy and each protocol of the addresses behind it, so that connections are used again. */
const dispatchers = new Map<string, Promise<Dispatcher | undefined>>();

/**
 * The dispatcher that sends a request through the proxy which the environment names for its address. It is undefined when there is no such
 * proxy, and where the platform or the program takes care of proxies: in Bun and Deno, with `NODE_USE_ENV_PROXY=1`, and when the program has
 * replaced Node's dispatcher.
 * @throws FileHostingError `invalid_argument` for a proxy of another kind, such as SOCKS.
 */
export async function dispatcherFor(address: string): Promise<Dispatcher | undefined> {
  if (!/^Node/.test(globalThis.navigator?.userAgent ?? 'Node')) return undefined;
  const { protocol, hostname } = new URL(address);
  const proxy = proxyFor(protocol);
  if (!proxy || (await isExcepted(hostname))) return undefined;
  const key = `${protocol} ${proxy}`;
  const dispatcher = dispatchers.get(key) ?? newDispatcher(protocol === 'https:', proxy);
  dispatchers.set(key, dispatcher);
  return dispatcher;
}

function variables(): Readonly<Record<string, string | undefined>> {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env ?? {};
}

/**
 * As in curl, the name in lower case comes first, and `HTTP_PROXY` is not used: a CGI program gets it from the header `Proxy` of a request.
 */
function proxyFor(protocol: string): string | undefined {
  const { https_proxy, HTTPS_PROXY, http_proxy, all_proxy, ALL_PROXY } = variables();
  return (protocol === 'https:' ? https_proxy || HTTPS_PROXY : http_proxy) || all_proxy || ALL_PROXY;
}

/**
 * True when a host is in `NO_PROXY`, which is a list such as `localhost,example.com,10.0.0.0/8`, or `*`. As in curl, a name stands for its
 * subdomains as well.
 */
async function isExcepted(hostname: string): Promise<boolean> {
  const { no_proxy, NO_PROXY } = variables();
  const list = (no_proxy || NO_PROXY || '').trim();
  const host = hostname.replace(/^\[|\]$|\.$/g, '');
  const { BlockList, isIP } = await loadNode('node:net');
  const family = isIP(host);
  const isIn = (entry: string) => {
    const name = entry.replace(/^\.|\.$|[[\]]/g, '').toLowerCase();
    if (!name || !family) return name === host || (name !== '' && host.endsWith(`.${name}`));
    const [network = '', bits = family === 4 ? 32 : 128] = name.split('/');
    if (isIP(network) !== family || !(Number(bits) <= 128 / (family === 4 ? 4 : 1))) return false;
    const block = new BlockList();
    block.addSubnet(network, Number(bits), `ipv${family}`);
    return block.check(host, `ipv${family}`);
  };
  return list === '*' || list.split(/[\s,]+/).some(isIn);
}

async function newDispatcher(isSecure: boolean, address: string): Promise<Dispatcher | undefined> {
  const Agent = await agentOfNode();
  if (!Agent) return undefined;
  const url = /^\w+:\/\//.test(address) ? address : `http://${address}`;
  if (!/^https?:/.test(url) || !URL.canParse(url)) {
    throw invalid('The proxy that the environment names cannot be used: it must begin with http:// or https://');
  }
  const proxy = new URL(url);
  const name = decodeURIComponent(`${proxy.username}:${proxy.password}`);
  const headers: Record<string, string> =
    name === ':'
      ? {}
      : { 'Proxy-Authorization': `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(name)))}` };
  const connect = await connectTo(proxy, address, isSecure ? headers : undefined);
  if (isSecure) return new Agent({ connect });
  // Many proxies tunnel only to the port of https:, so requests for http: are handed to the proxy itself.
  class PlainAgent extends Agent {
    override dispatch(request: DispatchedRequest, handler: unknown): boolean {
      const { origin, path, headers: own } = request;
      const all = Array.isArray(own) ? [...own, ...Object.entries(headers).flat()] : { ...own, ...headers };
      return super.dispatch({ ...request, path: origin + path, headers: all }, handler);
    }
  }
  return new PlainAgent({ connect });
}

/** The class of Node's own dispatcher, which Node makes when `fetch` is used for the first time. */
async function agentOfNode(): Promise<NewDispatcher | undefined> {
  await fetch('data:,');
  const [current] = [2, 1]
    .map((version) => (globalThis as Record<symbol, unknown>)[Symbol.for(`undici.globalDispatcher.${version}`)])
    .filter(Boolean);
  return current?.constructor.name === 'Agent' ? (current.constructor as NewDispatcher) : undefined;
}

/** @param headers  of the request for a tunnel; undefined when no tunnel is needed. */
async function connectTo(proxy: URL, address: string, headers: Record<string, string> | undefined): Promise<Connect> {
  const [http, { connect, isIP }, tls] = await Promise.all([
    loadNode('node:http'),
    loadNode('node:net'),
    loadNode('node:tls'),
  ]);
  const secure = (over: Endpoint | { readonly socket: Socket }, host: string) =>
    tls.connect({ ...over, servername: isIP(host) ? '' : host, ALPNProtocols: ['http/1.1'] });
  const host = proxy.hostname.replace(/^\[|\]$/g, '');
  const isSecure = proxy.protocol === 'https:';
  // A URL does not keep the usual port of its protocol. If no port is given, curl takes 1080.
  const [, port = isSecure ? 443 : 1080] = /:(\d+)\/?$/.exec(address) ?? [];
  const endpoint = { host, port: Number(port) };
  const failure = (what: string, code: string) => Object.assign(new Error(`the proxy ${proxy.host} ${what}`), { code });
  return ({ hostname, port: targetPort }, done) => {
    const socket = isSecure ? secure(endpoint, host) : connect(endpoint);
    socket.once('error', ({ message, code }) => done(failure(`cannot be reached (${message})`, code)));
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      if (!headers) return done(null, socket);
      const target = `${hostname.includes(':') ? `[${hostname}]` : hostname}:${targetPort || 443}`;
      const request = http.request({
        method: 'CONNECT',
        path: target,
        headers: { Host: target, ...headers },
        createConnection: () => socket,
      });
      request.once('error', done);
      request.once('connect', ({ statusCode }, tunnel) => {
        if (statusCode >= 300) {
          tunnel.destroy();
          return done(failure(`answered ${statusCode}`, statusCode < 500 ? 'PROXY_REFUSED' : 'PROXY_FAILED'));
        }
        const inside = secure({ socket: tunnel }, hostname);
        inside.once('error', done);
        inside.once('secureConnect', () => done(null, inside));
      });
      request.end();
    });
  };
}
