import type { CacheBehavior } from './distribution.ts';

/**
 * Finds the behavior for a path: the first whose pattern matches its normal form. Functions and origins see the raw path.
 * @param behaviors  in order; the default one (`*`) is last.
 * Source: CloudFront Developer Guide, "Cache behavior settings", Path pattern.
 */
export function behaviorFor(path: string, behaviors: readonly CacheBehavior[]): CacheBehavior {
  const normal = normalPath(path);
  const found = behaviors.find(({ pathPattern }) => fits(normal, pathPattern));
  if (!found) throw new Error('a distribution without a default behavior');
  return found;
}

/** Normalises a path: decodes escapes of unreserved characters, removes dot segments (RFC 3986, 6.2.2), merges slashes. */
export function normalPath(path: string): string {
  const decoded = path.replace(/%[0-9A-Fa-f]{2}/g, (encoded) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : encoded.toUpperCase();
  });
  const segments: string[] = [];
  const parts = decoded.split('/').filter((part) => part !== '');
  for (const part of parts) {
    if (part === '..') segments.pop();
    else if (part !== '.') segments.push(part);
  }
  const isFolder = /\/\.{0,2}$/.test(decoded) && segments.length > 0;
  return `/${segments.join('/')}${isFolder ? '/' : ''}`;
}

/** `*` stands for any characters, `?` for one. Patterns are case-sensitive and may omit the leading slash. */
function fits(path: string, pattern: string): boolean {
  const anchored = pattern.startsWith('/') || pattern === '*' ? pattern : `/${pattern}`;
  const expression = anchored
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${expression}$`, 's').test(path);
}
