/**
 * The browsers and systems that a session can name, each with the mark that its `User-Agent` has. The first match counts, because most
 * browsers also send the marks of those after them in the list.
 */
const BROWSERS: readonly Named[] = [
  ['Edge', /\bEdg(?:A|iOS|e)?\//],
  ['Opera', /\b(?:OPR|OPiOS|OPT|Opera)\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Vivaldi', /\bVivaldi\//],
  ['Yandex Browser', /\bYaBrowser\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Headless)?(?:Chrome|Chromium|CriOS)\//],
  ['Safari', /\bVersion\/\S+ (?:Mobile\/\S+ )?Safari\//],
];
const SYSTEMS: readonly Named[] = [
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Android', /\bAndroid\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b/],
  ['Linux', /\bLinux\b/],
];

type Named = readonly [name: string, mark: RegExp];

export const UNKNOWN_DEVICE = 'Unknown device';

/** A `User-Agent` of a browser has fewer characters. What is after them is not read. */
const USER_AGENT_READ_MAX = 512;

/**
 * Names the device of a browser, such as `Firefox on Linux`. The name consists of our own words alone: a client can put any text into its
 * `User-Agent`, and the owner of the account sees the name. Browsers do not tell everything: Safari on an iPad says that it is on a Mac.
 */
export function deviceOf(userAgent: string): string {
  const [browser, system] = [BROWSERS, SYSTEMS].map(
    (all) => all.find(([, mark]) => mark.test(userAgent.slice(0, USER_AGENT_READ_MAX)))?.[0],
  );
  if (browser === undefined) return system === undefined ? UNKNOWN_DEVICE : `Unknown browser on ${system}`;
  return system === undefined ? browser : `${browser} on ${system}`;
}
