import { GetSecretValueCommand, ListSecretsCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { GetParameterCommand, PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { describe, expect, test } from 'vitest';
import type { Principal } from '../../../local-aws/aws-front/principals.ts';
import { parameterArn, secretArn } from '../../../local-aws/aws-front/secrets-and-parameters.ts';
import { ACCOUNT, ADMIN, allow, failureOf, frontOfFile, principal } from './front.ts';

const ORIGIN_ARN = secretArn('origin-secret', ACCOUNT);
const reader = principal(
  'reader',
  allow('secretsmanager:GetSecretValue', ORIGIN_ARN),
  allow('ssm:GetParameter', parameterArn('/app/url', ACCOUNT)),
);
/** A principal with the grant that CDK writes for a secret that it knows by name alone. */
const byName = principal('by-name', allow('secretsmanager:GetSecretValue', ORIGIN_ARN.replace(/.{6}$/, '??????')));
const front = await frontOfFile({
  principals: [reader, byName],
  secrets: { 'origin-secret': '{"current":"a"}', other: 'x' },
  parameters: { '/app/url': 'https://app.example', '/app/other': 'x' },
});
const config = (credentials: Principal) => ({
  endpoint: front.endpoint,
  region: ACCOUNT.region,
  credentials,
  maxAttempts: 1,
});
const secret = (SecretId: string, who = reader) =>
  new SecretsManagerClient(config(who)).send(new GetSecretValueCommand({ SecretId }));
const ssm = (who: Principal) => new SSMClient(config(who));
const DENIED = { name: 'AccessDeniedException', status: 400 };

describe('a secret', () => {
  test.each([
    ['its name', 'origin-secret'],
    ['its ARN', ORIGIN_ARN],
    ['its ARN without the suffix', ORIGIN_ARN.slice(0, -7)],
  ])('is read by %s', async (_name, id) => {
    const answer = await secret(id);
    expect(answer).toMatchObject({ Name: 'origin-secret', ARN: ORIGIN_ARN, SecretString: '{"current":"a"}' });
    expect(answer.VersionStages).toEqual(['AWSCURRENT']);
    expect((await secret(id, byName)).SecretString).toBe('{"current":"a"}');
  });

  test('has its new value after a rotation', async () => {
    const before = await secret('origin-secret');
    front.secrets.set('origin-secret', '{"current":"b","previous":"a"}');
    const after = await secret('origin-secret');
    expect(after.SecretString).toBe('{"current":"b","previous":"a"}');
    expect(after.VersionId).not.toBe(before.VersionId);
    front.secrets.set('origin-secret', '{"current":"a"}');
  });

  test('is read only with a permission for it', async () => {
    expect(await failureOf(secret('other'))).toEqual(DENIED);
    expect(await failureOf(secret('missing', ADMIN))).toEqual({ name: 'ResourceNotFoundException', status: 400 });
  });
});

describe('a parameter', () => {
  const get = (Name: string, who = reader) => ssm(who).send(new GetParameterCommand({ Name }));

  test('is read by its name', async () => {
    expect((await get('/app/url')).Parameter).toMatchObject({
      Value: 'https://app.example',
      Type: 'String',
      Version: 1,
    });
  });

  test('is read only with a permission for it', async () => {
    expect(await failureOf(get('/app/other'))).toEqual(DENIED);
    expect(await failureOf(get('/missing', ADMIN))).toEqual({ name: 'ParameterNotFound', status: 400 });
  });
});

test('an operation or a parameter that the front does not know is refused even to a caller that may do everything', async () => {
  const unknown = { name: 'UnknownOperationException', status: 400 };
  const list = new SecretsManagerClient(config(ADMIN)).send(new ListSecretsCommand({}));
  expect(await failureOf(list)).toEqual(unknown);
  const former = new GetSecretValueCommand({ SecretId: 'other', VersionStage: 'AWSPREVIOUS' });
  expect(await failureOf(new SecretsManagerClient(config(ADMIN)).send(former))).toEqual(unknown);
  const write = new PutParameterCommand({ Name: '/app/url', Value: 'x', Overwrite: true });
  expect(await failureOf(ssm(ADMIN).send(write))).toEqual(unknown);
});
