import { expect, test } from 'vitest';
import type { ApiEvent } from '../../../shared/http/request.ts';
import { isNavigation } from '../../../shared/stack/login-page.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';

test.each<[string, Record<string, string>]>([
  ['opens a page', { 'Sec-Fetch-Mode': 'navigate', Accept: BROWSER }],
  ['does not send Sec-Fetch-Mode', { Accept: BROWSER }],
])('the answer to a browser that %s is for a person', (_, headers) => {
  expect(isNavigation(eventWith(headers))).toBe(true);
});

test.each<[string, Record<string, string>]>([
  ['a script of a page, whatever it accepts,', { 'Sec-Fetch-Mode': 'cors', Accept: BROWSER }],
  ['curl', { Accept: '*/*' }],
  ['axios', { Accept: 'application/json, text/plain, */*' }],
  ['a program that sends no headers', {}],
  ['a program that accepts HTML and JSON alike', { Accept: 'text/html, application/json' }],
  ['a program that prefers JSON to HTML', { Accept: 'application/json, text/html;q=0.5' }],
  ['a program that accepts no HTML', { Accept: 'text/html;q=0, */*' }],
  ['a program whose weight of HTML is not a number', { Accept: 'text/html;q=x' }],
])('the answer to %s is for a program', (_, headers) => {
  expect(isNavigation(eventWith(headers))).toBe(false);
});

function eventWith(headers: Record<string, string>): ApiEvent {
  const multiValueHeaders = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
  return { multiValueHeaders } as unknown as ApiEvent;
}
