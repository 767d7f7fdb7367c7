import { expect, test } from 'vitest';
import type { ApiEvent } from '../../../shared/http/request.ts';
import { isNavigation } from '../../../shared/stack/login-page.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';

test.each<[string, Record<string, string>, boolean]>([
  ['a browser that opens a page', { 'Sec-Fetch-Mode': 'navigate', Accept: BROWSER }, true],
  ['a browser that says nothing of the mode', { Accept: BROWSER }, true],
  ['a script of a page, whatever it accepts', { 'Sec-Fetch-Mode': 'cors', Accept: BROWSER }, false],
  ['curl', { Accept: '*/*' }, false],
  ['axios', { Accept: 'application/json, text/plain, */*' }, false],
  ['a program that says nothing', {}, false],
  ['a program that takes both alike', { Accept: 'text/html, application/json' }, false],
  ['a program that takes HTML if it must', { Accept: 'application/json, text/html;q=0.5' }, false],
  ['a program that takes no HTML', { Accept: 'text/html;q=0, */*' }, false],
  ['a weight that is not a number', { Accept: 'text/html;q=x' }, false],
])('%s', (_, headers, isPage) => {
  const multiValueHeaders = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
  expect(isNavigation({ multiValueHeaders } as unknown as ApiEvent)).toBe(isPage);
});
