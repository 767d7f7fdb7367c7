import { test } from 'vitest';
import type { StageName, StageSettings } from '../../infra/settings/stage.ts';
import { TABLES } from '../../shared/tables.ts';
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
  [
    'in us-east-1, with a second copy, restored tables, a budget, several sweepers and without the canary',
    'prod',
    {
      region: 'us-east-1',
      secondCopy: { region: 'us-west-2', keepDays: 35 },
      restoredTables: Object.fromEntries(
        Object.keys(TABLES).map((name) => [name, `FileHosting-prod-restored-${name}`]),
      ),
      alarmEmails: { ticket: ['ops@example.com'] },
      monthlyBudgetUsd: 50,
      canary: false,
      sweepers: 4,
      originSecretSlot: 'b',
      securityContact: { contacts: ['mailto:security@example.com'] },
    },
  ],
])(
  '%s, every finding in the stage %s is accepted, and every acceptance has a finding',
  async (_name, stage, changes) => {
    await expectAccepted(stage, changes);
  },
);
