import { expect, test } from 'vitest';
import { readRoles } from '../../local-aws/template/role-policies.ts';
import { deploy } from './assembly-fixture.ts';

const document = (Action: string) => ({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Action, Resource: '*' }],
});
const role = (Properties: Record<string, unknown> = {}) => ({ Type: 'AWS::IAM::Role', Properties });
const policy = (action: string, ...roles: string[]) => ({
  Type: 'AWS::IAM::Policy',
  Properties: { PolicyName: action, PolicyDocument: document(action), Roles: roles.map((Ref) => ({ Ref })) },
});

test('a role has its inline policies and those attached to it', async () => {
  const LOGS = 'arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole';
  const roles = readRoles(
    await deploy({
      A: role({
        Policies: [{ PolicyName: 'own', PolicyDocument: document('own') }],
        ManagedPolicyArns: [LOGS],
      }),
      B: role(),
      ForA: policy('for-a', 'A'),
      ForBoth: policy('for-both', 'A', 'B'),
    }),
  );
  expect(roles.map(({ policies }) => policies)).toEqual([
    [document('own'), document('for-a'), document('for-both')],
    [document('for-both')],
  ]);
});

test.each([
  [
    'a managed policy that is not in the templates',
    { ManagedPolicyArns: ['arn:aws:iam::aws:policy/AdministratorAccess'] },
    'has the policy arn:aws:iam::aws:policy/Ad',
  ],
  ['a permissions boundary', { PermissionsBoundary: 'arn' }, 'does not implement PermissionsBoundary'],
])('a role with %s is an error', async (_name, properties, message) => {
  const deployment = await deploy({ A: role(properties) });
  expect(() => readRoles(deployment)).toThrow(message);
});
