import { test } from 'vitest';
import type { StageName, StageSettings } from '../../infra/settings/stage.ts';
import { expectAccepted } from '../support/findings.ts';

const certificate = (id: string) => `arn:aws:acm:us-east-1:123456789012:certificate/${id}`;

test.each<[StageName, Partial<StageSettings>]>([
  ['dev', {}],
  ['local', {}],
  ['prod', { streaming: 'off' }],
  ['prod', { firewall: 'off', reservesConcurrency: false }],
  [
    'prod',
    {
      account: '123456789012',
      appDomain: { name: 'files.example.com', certificateArn: certificate('app') },
      cdnDomain: { name: 'cdn.example.net', certificateArn: certificate('cdn') },
      firewall: { webAclArn: 'arn:aws:wafv2:us-east-1:123456789012:global/webacl/files/1' },
      alarmEmails: { page: ['ops@example.com'] },
    },
  ],
])('every finding in %s is accepted, and every acceptance has a finding, with %j', async (stage, changes) => {
  await expectAccepted(stage, changes);
});
