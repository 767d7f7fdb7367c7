import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPolicyEvaluator } from '../../../local-aws/aws-front/policy-evaluator.ts';
import { ACCOUNT, allow, principal } from './front.ts';

const letters = (...units: string[]) => fc.string({ unit: fc.constantFrom(...units), minLength: 1, maxLength: 4 });
const pattern = letters('a', 'b', '/', '.', '*', '?').map((text) => `arn:aws:s3:::b/${text}`);
const policies = fc.array(
  fc.record({ Effect: fc.constantFrom('Allow', 'Deny'), Resource: fc.array(pattern, { minLength: 1, maxLength: 3 }) }),
  { minLength: 1, maxLength: 3 },
);

test('a cached verdict for a resource is the one that an evaluator without a cache gives', async () => {
  await fc.assert(
    fc.asyncProperty(
      policies,
      fc.array(letters('a', 'b', '/', '.', ':', '-'), { maxLength: 8 }),
      async (some, keys) => {
        const Statement = some.map((statement) => ({ ...statement, Action: 's3:GetObject' }));
        const user = principal('user', { Version: '2012-10-17', Statement });
        const evaluator = createPolicyEvaluator(ACCOUNT, new Map());
        for (const key of keys) {
          const permission = { action: 's3:GetObject', resource: `arn:aws:s3:::b/${key}`, bucket: 'b' };
          const alone = createPolicyEvaluator(ACCOUNT, new Map()).isAllowed({ ...user }, permission);
          expect(await evaluator.isAllowed(user, permission)).toBe(await alone);
        }
      },
    ),
    { numRuns: 50 },
  );
});

test('cached verdicts are not shared between principals, actions or contexts', async () => {
  const evaluator = createPolicyEvaluator(ACCOUNT, new Map());
  const Condition = { StringEquals: { 's3:prefix': 'mine' } };
  const one = principal(
    'one',
    allow('s3:GetObject', 'arn:aws:s3:::b/*'),
    allow('s3:ListBucket', 'arn:aws:s3:::b', { Condition }),
  );
  const two = principal('two');
  const read = { action: 's3:GetObject', resource: 'arn:aws:s3:::b/key', bucket: 'b' };
  const list = (prefix: string) => ({
    action: 's3:ListBucket',
    resource: 'arn:aws:s3:::b',
    bucket: 'b',
    context: { 's3:prefix': prefix },
  });
  const verdicts = [
    evaluator.isAllowed(one, read),
    evaluator.isAllowed(two, read),
    evaluator.isAllowed(one, { ...read, action: 's3:PutObject' }),
    evaluator.isAllowed(one, list('mine')),
    evaluator.isAllowed(one, list('yours')),
  ];
  expect(await Promise.all(verdicts)).toEqual([true, false, false, true, false]);
});

test('an action that IAM does not know is an error, not a verdict', async () => {
  const evaluator = createPolicyEvaluator(ACCOUNT, new Map());
  const user = principal('user', allow('*', '*'));
  const permission = { action: 's3:Fly', resource: 'arn:aws:s3:::b/key', bucket: 'b' };
  await expect(evaluator.isAllowed(user, permission)).rejects.toThrow('cannot evaluate s3:Fly');
});
