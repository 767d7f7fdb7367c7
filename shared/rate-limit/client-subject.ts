import { isIPv4, isIPv6 } from 'node:net';

/**
 * The subject under which an address is counted. For an IPv4 address it is the address itself. For an IPv6 address it is the /64 network,
 * because one customer gets a whole /64 and could otherwise change addresses within it. Different spellings of an address are one subject.
 * All texts that are not addresses share one subject, so that no client can invent subjects.
 * @param address  as our own edge gives it, never as a client does.
 */
export function clientSubject(address: string): string {
  if (isIPv4(address)) return address;
  const [unzoned = ''] = address.split('%', 1);
  if (!isIPv6(unzoned)) return 'unknown';
  const groups = groupsOf(unzoned);
  if (isMappedIpv4(groups))
    return groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 0xff])
      .join('.');
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}

/** The eight 16-bit groups of a valid IPv6 address. Source: RFC 4291, section 2.2. */
function groupsOf(address: string): number[] {
  const [head = [], tail] = address.split('::').map((half) => half.split(':').flatMap(parseGroup));
  return tail ? [...head, ...new Array<number>(8 - head.length - tail.length).fill(0), ...tail] : head;
}

function parseGroup(text: string): number[] {
  if (text === '') return [];
  if (!text.includes('.')) return [Number.parseInt(text, 16)];
  const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map(Number);
  return [a * 256 + b, c * 256 + d];
}

/** `::ffff:0:0/96`: an IPv4 client that reached a socket of both families. Source: RFC 4291, section 2.5.5.2. */
function isMappedIpv4(groups: readonly number[]): boolean {
  return groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
}
