import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Fault } from '../../local-aws/service.ts';
import { type Operator, operatorOf } from '../support/operator.ts';
import { borrowTestService, type TestService } from '../support/service.ts';
import { withFault } from '../support/with-fault.ts';

/** The check of new versions, called as CodeDeploy calls it, against the local service. grants.test.ts checks healthy versions. */

let service: TestService;
let operator: Operator;
beforeAll(async () => {
  service = await borrowTestService();
  operator = operatorOf(service);
  await operator.putCanaryKey((await service.newAccount()).key);
});
afterAll(async () => {
  operator.close();
  await service.close();
});

const linesOf = (message: string) => service.logs.filter((line) => line.includes(`"message":"${message}"`));

const principalOf = (label: string) => service.lambda.find(label).roleArn.replace(/.*\//, '');
const failing = (label: string, operation: string): Fault => ({
  match: { principal: principalOf(label), operation },
  effect: 'error-before',
});

test.each([
  ['uploadFile', 'UploadFileFunction', 'PutObject'],
  ['completeUpload', 'CompleteUploadFunction', 'TransactWriteItems'],
  ['listFiles', 'ListFilesFunction', 'Query'],
  ['getFile', 'GetFileFunction', 'GetItem'],
  ['getMe', 'GetMeFunction', 'GetItem'],
])('a version of %s that fails is taken back', async (group, label, operation) => {
  // The event of a direct upload might complete it before its check does.
  service.holdEvents();
  const verdict = await withFault(service, failing(label, operation), () => service.codeDeploy.deploy(group));
  await service.deliverEvents();
  expect(verdict).toBe('Failed');
  expect(linesOf('the new version failed its check').at(-1)).toContain(`"function":"${group}"`);
});

test('a version stays when its check fails because of another function', async () => {
  const fault = failing('UploadFileFunction', 'PutObject');
  expect(await withFault(service, fault, () => service.codeDeploy.deploy('deleteFile'))).toBe('Succeeded');
  expect(linesOf('deployment not checked').at(-1)).toContain('"function":"deleteFile"');
  expect(linesOf('deployment checked').filter((line) => line.includes('"function":"deleteFile"'))).toEqual([]);
});

test('a deployment that goes back to the earlier version is not checked', async () => {
  const mark = service.front.meter.mark();
  expect(await service.codeDeploy.deploy('getFile', 'codeDeployRollback')).toBe('Succeeded');
  expect(service.front.meter.since(mark).calls.map(({ operation }) => operation)).toEqual([
    'GetDeployment',
    'PutLifecycleEventHookExecutionStatus',
  ]);
  expect(linesOf('deployment checked').filter((line) => line.includes('"function":"getFile"'))).toEqual([]);
});
