import { test } from 'vitest';
import { expectAccepted } from '../support/findings.ts';

const certificate = (id: string) => `arn:aws:acm:us-east-1:123456789012:certificate/${id}`;

test.each<Record<string, string>>([
  { stage: 'dev' },
  { streamingUploads: 'false' },
  { firewallRequestsPerFiveMinutes: '3000', reserveConcurrency: 'false' },
  {
    appDomain: 'files.example.com',
    appCertificateArn: certificate('app'),
    cdnDomain: 'cdn.example.net',
    cdnCertificateArn: certificate('cdn'),
    webAclArn: 'arn:aws:wafv2:us-east-1:123456789012:global/webacl/files/1',
    alarmEmail: 'ops@example.com',
  },
])('every finding is accepted, and every acceptance has a finding, with %j', async (context) => {
  await expectAccepted(context);
});
