import { expect, test } from 'vitest';
import { synthesized } from '../../support/synthesized.ts';

test('the pages of the dashboard are deployed after the assets that they name', async () => {
  const sets = await synthesized('Edge', 'Custom::CDKBucketDeployment');
  const of = (prefix: string) => sets.find(({ Properties }) => Properties.DestinationBucketKeyPrefix === prefix);
  const [pages, assets] = [of('dashboard'), of('assets')];
  expect(assets?.logicalId).toBeDefined();
  expect(pages?.DependsOn).toContain(assets?.logicalId);
});
