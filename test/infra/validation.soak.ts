import { test } from 'vitest';
import type { StageName, StageSettings } from '../../infra/settings/stage.ts';
import { expectAccepted } from '../support/findings.ts';

const certificate = (id: string) => `arn:aws:acm:us-east-1:123456789012:certificate/${id}`;

test.each<[string, StageName, Partial<StageSettings>]>([
  ['with its own settings', 'dev', {}],
  ['with its own settings', 'local', {}],
  ['without streaming uploads', 'prod', { streaming: 'off' }],
  ['without firewall and reserved concurrency', 'prod', { firewall: 'off', reservesConcurrency: false }],
  [
    'with domains, a firewall of its own and alarms by e-mail',
    'prod',
    {
      account: '123456789012',
      appDomain: { name: 'files.example.com', certificateArn: certificate('app') },
      cdnDomain: { name: 'cdn.example.net', certificateArn: certificate('cdn') },
      firewall: { webAclArn: 'arn:aws:wafv2:us-east-1:123456789012:global/webacl/files/1' },
      alarmEmails: { page: ['ops@example.com'] },
    },
  ],
])(
  '%s, every finding in the stage %s is accepted, and every acceptance has a finding',
  async (_name, stage, changes) => {
    await expectAccepted(stage, changes);
  },
);
