/** HTTP headers by name in lower case. A name that came more than once keeps all its values, in order. */
export type HeaderMap = Map<string, string[]>;

/** @param raw  as Node gives them: name, value, name, value. */
export function headersFromRaw(raw: readonly string[]): HeaderMap {
  const headers: HeaderMap = new Map();
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = (raw[i] as string).toLowerCase();
    const values = headers.get(name);
    if (values) values.push(raw[i + 1] as string);
    else headers.set(name, [raw[i + 1] as string]);
  }
  return headers;
}

/** The first value of a header. */
export function header(headers: HeaderMap, name: string): string | undefined {
  return headers.get(name)?.[0];
}

/** Headers for `http.request` and `ServerResponse.writeHead`. A single value stays a string. */
export function headersForNode(headers: HeaderMap): Record<string, string | string[]> {
  return Object.fromEntries(
    [...headers].map(([name, values]) => [name, values.length === 1 ? (values[0] as string) : values]),
  );
}

/** Headers that belong to one connection and are never passed on. Source: RFC 9110, 7.6.1. */
const HOP_BY_HOP = ['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'];

/** Removes the hop-by-hop headers, including those that `Connection` names. */
export function removeHopByHop(headers: HeaderMap): void {
  const named = (headers.get('connection') ?? []).flatMap((value) => value.toLowerCase().split(/\s*,\s*/));
  for (const name of [...HOP_BY_HOP, ...named]) headers.delete(name);
}
