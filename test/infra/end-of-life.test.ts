import { expect, test } from 'vitest';
import { resourcesOf, templatesOf } from '../support/synthesize-stage.ts';

/**
 * The days on which AWS or the Node project stop supporting the versions that we use. This file prints a warning from half a year before
 * the day, so that there is time to change. If no end of a version is announced, the day is our choice: when the warning comes, look for an
 * announcement again.
 */
const ENDS = {
  // Node 24 ends on this day (nodejs.org/en/about/previous-releases). Lambda deprecates it on the same day (Lambda Developer Guide, "Lambda
  // runtimes", also at endoflife.date/aws-lambda). Looked up on 2026-11-22.
  'nodejs24.x': '2028-04-30',
  // CloudFront Developer Guide, "Supported protocols and ciphers between viewers and CloudFront": this policy is listed, beside the
  // newer TLSv1.2_2025 and TLSv1.3_2025, and no end is announced. Looked up on 2026-11-22.
  'TLSv1.2_2021': '2028-06-30',
};
const HALF_A_YEAR_MS = 183 * 24 * 3_600_000;

const warningsAt = (now: number) =>
  Object.entries(ENDS)
    .filter(([, end]) => now > Date.parse(end) - HALF_A_YEAR_MS)
    .map(([version, end]) => `${version} is supported only until ${end}. Change to a newer version.`);

for (const warning of warningsAt(Date.now())) console.warn(warning);

test('a version gets a warning in the half year before its end', () => {
  expect(warningsAt(Date.parse('2027-10-01'))).toEqual([]);
  expect(warningsAt(Date.parse('2027-11-01'))).toEqual([expect.stringContaining('nodejs24.x')]);
  expect(warningsAt(Date.parse('2029-01-01'))).toHaveLength(2);
});

test('the templates use these versions, and no others', async () => {
  const certificate = (id: string) => `arn:aws:acm:us-east-1:123456789012:certificate/${id}`;
  const templates = Object.values(
    await templatesOf('prod', {
      appDomain: { name: 'files.example.com', certificateArn: certificate('app') },
      cdnDomain: { name: 'cdn.example.net', certificateArn: certificate('cdn') },
    }),
  );
  const used = templates.flatMap((template) => [
    // CDK's own functions, which copy files, are upgraded with CDK.
    ...resourcesOf(template, 'AWS::Lambda::Function')
      .filter(({ Properties }) => JSON.stringify(Properties).includes('NEEDED_VARIABLES'))
      .map(({ Properties }) => Properties?.Runtime),
    ...resourcesOf(template, 'AWS::Lambda::WebFunctionRevision').map(
      ({ Properties }) => JSON.stringify(Properties).match(/nodejs[\w.]+/)?.[0],
    ),
    ...resourcesOf(template, 'AWS::CloudFront::Distribution').map(
      ({ Properties }) => JSON.stringify(Properties).match(/"MinimumProtocolVersion":"(.*?)"/)?.[1],
    ),
  ]);
  expect(new Set(used)).toEqual(new Set(Object.keys(ENDS)));
});
