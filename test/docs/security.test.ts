import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SECURITY_TEXT_PATH, securityText } from '../../infra/settings/security-text.ts';
import type { Settings } from '../../operator/smoke/check.ts';
import { ROUTE_CHECKS } from '../../operator/smoke/routes.ts';
import { Service } from '../../operator/smoke/service.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type SynthesizedStage, synthesizeStage } from '../support/synthesize-stage.ts';

describe('security.txt', () => {
  const CONTACT = { contacts: ['mailto:security@example.com'] };

  describe('of a stage with a contact', () => {
    let stage: SynthesizedStage;
    let service: TestService;
    beforeAll(async () => {
      stage = await synthesizeStage('local', { securityContact: CONTACT });
      service = await startTestService({}, { assembly: stage.directory });
    });
    afterAll(async () => {
      await service.close();
      await stage.remove();
    });

    test('is plain text for everyone, whose expiry is in the year after the deployment', async () => {
      const answer = await fetch(service.urls.root_url + SECURITY_TEXT_PATH);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
      const text = await answer.text();
      const [, expires = ''] = /^Expires: (.*)$/m.exec(text) ?? [];
      const deployedAt = new Date(expires);
      deployedAt.setUTCFullYear(deployedAt.getUTCFullYear() - 1);
      expect(text).toBe(securityText(CONTACT, service.urls.root_url, deployedAt));
      const smoke = new Service({ baseUrl: service.urls.base_url, key: 'svc_test_none' });
      const check = ROUTE_CHECKS.find(({ name }) => name.startsWith('security.txt'));
      expect(await check?.run({ service: smoke } as Settings)).toBe(expires);
      const refused = await fetch(service.urls.root_url + SECURITY_TEXT_PATH, { method: 'POST', body: 'x' });
      expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    });
  });

  test.each([
    ['2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z'],
    ['2026-11-26T09:00:00Z', '2027-11-01T00:00:00Z'],
    ['2028-02-29T23:59:59Z', '2029-02-01T00:00:00Z'],
    ['2026-12-31T23:59:59Z', '2027-12-01T00:00:00Z'],
  ])('of a deployment at %s expires at %s', (deployedAt, expires) => {
    expect(securityText(CONTACT, 'https://files.example.com', new Date(deployedAt))).toContain(
      `\nExpires: ${expires}\n`,
    );
  });

  test('has every field of RFC 9116 that the settings have', () => {
    const contact = {
      contacts: ['https://example.com/report', 'mailto:security@example.com'],
      policy: 'https://example.com/policy',
      languages: ['de', 'en'],
    };
    expect(securityText(contact, 'https://files.example.com', new Date('2026-11-26')).split('\n')).toEqual([
      'Contact: https://example.com/report',
      'Contact: mailto:security@example.com',
      'Expires: 2027-11-01T00:00:00Z',
      'Preferred-Languages: de, en',
      'Canonical: https://files.example.com/.well-known/security.txt',
      'Policy: https://example.com/policy',
      '',
    ]);
  });
});
