import type { CacheBehavior } from './distribution.ts';

/**
 * The behavior for a path: the first whose pattern fits its normal form. The raw path is what functions and origins see.
 * @param behaviors  in order, the default one (`*`) last.
 * Source: CloudFront Developer Guide, "Cache behavior settings", Path pattern.
 */
export function behaviorFor(path: string, behaviors: readonly CacheBehavior[]): CacheBehavior {
  const normal = normalPath(path);
  const found = behaviors.find(({ pathPattern }) => fits(normal, pathPattern));
  if (!found) throw new Error('a distribution without a default behavior');
  return found;
}

/** RFC 3986, section 6.2.2: escapes of unreserved characters decoded, dot segments removed; and slashes merged. */
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

/** `*` stands for any characters, `?` for one; patterns are case-sensitive and may leave out the leading slash. */
function fits(path: string, pattern: string): boolean {
  const anchored = pattern.startsWith('/') || pattern === '*' ? pattern : `/${pattern}`;
  const expression = anchored
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${expression}$`, 's').test(path);
}
