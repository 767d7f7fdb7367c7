import { type ApiEvent, headerValues } from './event.ts';

/**
 * True when a browser opens the address as a page, so that a person reads what is answered. Browsers say so in
 * `Sec-Fetch-Mode`, which no page can set; one that does not send it asks for HTML before anything else. Programs, and what
 * a page's script fetches, want JSON.
 */
export function isNavigation(event: ApiEvent): boolean {
  const modes = headerValues(event, 'sec-fetch-mode');
  if (modes.length > 0) return modes.length === 1 && modes[0] === 'navigate';
  const accept = parseAccept(headerValues(event, 'accept'));
  return weightOf('text/html', accept) > weightOf('application/json', accept);
}

type Weights = ReadonlyMap<string, number>;

/** Each media range of `Accept` with its weight, which is 1 unless told. Source: RFC 9110, sections 12.4.2 and 12.5.1. */
function parseAccept(values: readonly string[]): Weights {
  const ranges = values.flatMap((value) => value.split(','));
  return new Map(
    ranges.map((range) => {
      const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
      const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
      return [type, weight === undefined ? 1 : Number(weight) || 0] as const;
    }),
  );
}

/** Of the ranges that a type falls under, the most specific counts. */
function weightOf(type: string, accept: Weights): number {
  const [main = ''] = type.split('/');
  return accept.get(type) ?? accept.get(`${main}/*`) ?? accept.get('*/*') ?? 0;
}
