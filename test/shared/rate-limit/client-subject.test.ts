import { expect, test } from 'vitest';
import { clientSubject } from '../../../shared/rate-limit/client-subject.ts';

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
  ['2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
  ['2001:db8:1:3::', '2001:db8:1:3::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['1::', '1:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['fe80::2%25en1', 'fe80:0:0:0::/64'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::FFFF:cb00:7107', '203.0.113.7'],
  ['0:0:0:0:0:ffff:203.0.113.7', '203.0.113.7'],
  ['64:ff9b::203.0.113.7', '64:ff9b:0:0::/64'],
  ['0:0:0:1::ffff:203.0.113.7', '0:0:0:1::/64'],
  ['1:2:3::ffff:cb00:7107', '1:2:3:0::/64'],
  ['::203.0.113.7', '0:0:0:0::/64'],
])('%s is counted as %s', (address, subject) => {
  expect(clientSubject(address)).toBe(subject);
});

test.each([
  '',
  ' ',
  'unknown',
  '203.0.113.7:443',
  '203.0.113.007',
  '203.0.113',
  '3405803783',
  '203.0.113.7, 198.51.100.1',
  ' 203.0.113.7',
  '203.0.113.7%eth0',
  '[2001:db8::1]',
  '2001:db8:::1',
  '2001:db8::1::2',
  '203.0.113.7\n',
])('%j is not an address and shares one subject with all such texts', (text) => {
  expect(clientSubject(text)).toBe('unknown');
});

test('a text of 5,000 characters is not an address either', () => {
  expect(clientSubject('a'.repeat(5_000))).toBe('unknown');
});
