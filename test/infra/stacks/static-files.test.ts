import { expect, test } from 'vitest';
import { synthesized } from '../../support/synthesized.ts';

test('the pages of the dashboard are deployed after the assets that they name', async () => {
  const sets = await synthesized('Edge', 'Custom::CDKBucketDeployment');
  const of = (prefix: string) => sets.filter(({ Properties }) => Properties.DestinationBucketKeyPrefix === prefix);
  const [pages, assets] = [of('dashboard'), of('assets')];
  expect([pages.length, assets.length]).toEqual([1, 1]);
  expect(pages[0]?.DependsOn).toContain(assets[0]?.logicalId);
});
