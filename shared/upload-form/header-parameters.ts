/** A parameter ends at the end of the header. It also ends at a `;` that is last in the header, or that begins another parameter. */
const PARAMETER_END = /[ \t]*(?:;[ \t]*(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+[ \t]*=|$)|$)/y;

/**
 * Real headers have three or four parameters. Reading one may search the whole rest of the header. Without a bound, a header of 16 KB of
 * quotes that never close would take a quarter of a second.
 */
const PARAMETERS_MAX = 16;

/**
 * The parameters of a header such as `form-data; name="file"; filename="a.txt"`, by name in lower case. If a name is repeated, its first
 * parameter counts; of more than {@link PARAMETERS_MAX} the first ones count. The result is a Map, because a client can call a parameter
 * `__proto__`.
 *
 * It reads what clients send rather than RFC 9110's grammar: a value without quotes may hold spaces and `;`, and a quoted one may hold bare
 * quotes and backslashes. A quote or `;` ends a value only where {@link PARAMETER_END} matches.
 */
export function headerParameters(header: string): Map<string, string> {
  const parameters = new Map<string, string>();
  let at = header.indexOf(';');
  for (let read = 0; at >= 0 && at < header.length && read < PARAMETERS_MAX; read++) {
    const equals = header.indexOf('=', at);
    if (equals < 0) break;
    // In `a; junk; name=x` the text `junk` is not a parameter.
    const name = header.slice(header.lastIndexOf(';', equals) + 1, equals);
    const start = skipBlanks(header, equals + 1);
    const quoted = header[start] === '"';
    const end = quoted ? closingQuote(header, start + 1) : bareEnd(header, start);
    const value = quoted ? unescapeQuotes(header.slice(start + 1, end)) : header.slice(start, end).trimEnd();
    const key = name.trim().toLowerCase();
    if (!parameters.has(key)) parameters.set(key, value);
    at = header.indexOf(';', end);
  }
  return parameters;
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ' || text[at] === '\t') at++;
  return at;
}

function isParameterEnd(header: string, at: number): boolean {
  PARAMETER_END.lastIndex = at;
  return PARAMETER_END.test(header);
}

/**
 * Where the quoted value that begins at `start` ends. A quote after a backslash counts as escaped, unless no other quote can close the
 * value: browsers do not escape, so they send the name `a\` as `"a\"`. A value without a closing quote ends with the header.
 */
function closingQuote(header: string, start: number): number {
  let escaped = -1;
  for (let at = header.indexOf('"', start); at >= 0; at = header.indexOf('"', at + 1)) {
    if (!isParameterEnd(header, at + 1)) continue;
    if (backslashesBefore(header, at, start) % 2 === 0) return at;
    if (escaped < 0) escaped = at;
  }
  return escaped < 0 ? header.length : escaped;
}

function backslashesBefore(text: string, end: number, start: number): number {
  let at = end;
  while (at > start && text[at - 1] === '\\') at--;
  return end - at;
}

function bareEnd(header: string, start: number): number {
  for (let at = header.indexOf(';', start); at >= 0; at = header.indexOf(';', at + 1)) {
    if (isParameterEnd(header, at)) return at;
  }
  return header.length;
}

/**
 * Removes the backslash of `\"` and `\\`. A backslash before any other character stays, because it belongs to a path such as
 * `C:\dir\file.txt`, which old clients do not escape.
 */
function unescapeQuotes(text: string): string {
  return text.replace(/\\(["\\])/g, '$1');
}
