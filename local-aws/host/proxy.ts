import http from 'node:http';

const { http_proxy, HTTP_PROXY, no_proxy, NO_PROXY } = process.env;
const proxy = http_proxy ?? HTTP_PROXY;

/** Whether programs with this environment ask a proxy for what is on this machine, as curl does. */
export const PROXY_TAKES_LOCALHOST = Boolean(proxy) && !/\*|localhost/.test(no_proxy ?? NO_PROXY ?? '');

/**
 * Makes requests of this process go straight to their servers, which are all on this machine, even if `NODE_USE_ENV_PROXY` tells Node to
 * use the proxy of the environment. Node reads that variable before any of our code runs.
 */
export function goPastProxy(): void {
  // Without `http_proxy` the function would do nothing.
  if (proxy) http.setGlobalProxyFromEnv({ http_proxy: proxy, no_proxy: '*' });
}
