import { expect, test } from 'vitest';
import { synthesized } from '../../support/synthesized.ts';

/** If an upgrade ran new code before it had its new grants, the calls of the code would be denied. */
test.each([
  ['Api', 'AWS::Lambda::Function'],
  ['Operations', 'AWS::Lambda::Function'],
  ['Streaming', 'AWS::Lambda::WebFunctionRevision'],
])('the code of every function of %s is deployed after the grants of its role', async (stack, type) => {
  const policies = await synthesized(stack, 'AWS::IAM::Policy');
  const functions = await synthesized(stack, type);
  expect(functions).not.toEqual([]);
  for (const { logicalId, Properties, DependsOn = [] } of functions) {
    const text = JSON.stringify(Properties);
    const own = policies.filter(({ Properties: { Roles } }) =>
      (Roles as { Ref: string }[]).some(({ Ref }) => text.includes(`"${Ref}"`)),
    );
    expect([logicalId, own.length]).toEqual([logicalId, 1]);
    expect([logicalId, ...DependsOn]).toEqual(expect.arrayContaining(own.map((policy) => policy.logicalId)));
  }
});
