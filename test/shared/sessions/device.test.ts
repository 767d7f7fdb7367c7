import { expect, test } from 'vitest';
import { deviceOf } from '../../../shared/sessions/device.ts';

const MAC = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)';
const WINDOWS = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64)';
const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const MARKUP = '<script>alert("Firefox on Mars")</script>';

test.each([
  ['Firefox on Linux', 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'],
  [
    'Firefox on iPhone',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 FxiOS/145.0 Mobile/15E148 Safari/604.1',
  ],
  ['Chrome on Windows', `${WINDOWS} ${WEBKIT} Chrome/142.0.0.0 Safari/537.36`],
  ['Chrome on Android', `Mozilla/5.0 (Linux; Android 10; K) ${WEBKIT} Chrome/142.0.0.0 Mobile Safari/537.36`],
  ['Chrome on ChromeOS', `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${WEBKIT} Chrome/142.0.0.0 Safari/537.36`],
  [
    'Chrome on iPad',
    'Mozilla/5.0 (iPad; CPU OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/142.0 Mobile/15E148 Safari/604.1',
  ],
  ['Chrome on Linux', `Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} HeadlessChrome/142.0.0.0 Safari/537.36`],
  ['Edge on Windows', `${WINDOWS} ${WEBKIT} Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0`],
  ['Opera on macOS', `${MAC} ${WEBKIT} Chrome/142.0.0.0 Safari/537.36 OPR/124.0.0.0`],
  [
    'Samsung Internet on Android',
    `Mozilla/5.0 (Linux; Android 10; K) ${WEBKIT} SamsungBrowser/29.0 Chrome/136.0.0.0 Mobile Safari/537.36`,
  ],
  ['Safari on macOS', `${MAC} AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15`],
  [
    'Safari on iPhone',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1',
  ],
  ['Firefox', 'Firefox/1'],
  ['Unknown browser on Linux', 'Mozilla/5.0 (X11; Linux x86_64) Unheard/1.0'],
  ['Unknown device', ''],
  ['Unknown device', 'curl/8.16.0'],
  ['Unknown device', MARKUP],
  ['Unknown device', '\u0000\u001b[2J\r\n\u202e\u{1f4f7}\ud800'],
  ['Firefox on Linux', `${MARKUP}\u0007 (Linux) Firefox/1\u202e ${MARKUP}`],
  ['Unknown device', `${'x'.repeat(10_000)} (Linux) Firefox/1`],
  ['Unknown device', 'Version/'.repeat(1_250)],
])('%s is the name of the device whose User-Agent is %j', (name, userAgent) => {
  expect(deviceOf(userAgent)).toBe(name);
});
