/** Where on this machine something listens that has a domain name on AWS: by domain name, `host:port`. */
export type LocalAddresses = ReadonlyMap<string, string>;

/**
 * There is no TLS on one machine: `https://` and a domain name that a local server stands in for become `http://` and the
 * address of that server. Only whole names in whole URLs change; a domain name alone, such as that of an origin, stays.
 */
export function useLocalAddresses(text: string, addresses: LocalAddresses): string {
  return text.replace(/https:\/\/([a-z0-9.-]+)/g, (url, domain: string) => {
    const address = addresses.get(domain);
    return address === undefined ? url : `http://${address}`;
  });
}
