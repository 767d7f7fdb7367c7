import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { namedTests } from '../../docs/references.ts';
import { SECURITY_TEXT_PATH, securityText } from '../../infra/settings/security-text.ts';
import type { Settings } from '../../operator/smoke/check.ts';
import { ROUTE_CHECKS } from '../../operator/smoke/routes.ts';
import { Service } from '../../operator/smoke/service.ts';
import { generateKey } from '../../shared/api-keys/key-format.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type SynthesizedStage, synthesizeStage } from '../support/synthesize-stage.ts';
import { blocksOf } from './blocks.ts';

const ROOT = join(import.meta.dirname, '../..');
const page = readFileSync(join(ROOT, 'docs/security.md'), 'utf8');

/** The sections that say what is at stake, and what the service does not do. All others consist of claims. */
const NO_CLAIMS = ['What is worth attacking', 'What is not met'];

/** The items of lists, the rows of tables and the paragraphs of a section, without code. */
function claimsOf(section: string): string[] {
  const text = section.replace(/^```[\s\S]*?^```$/gm, '').replace(/^<!--.*-->$|^\*\*.*\*\*$|^\| (.*\n)\| ---.*$/gm, '');
  return text.split(/\n(?=\n|- |\d+\. |\| )/).flatMap((claim) => claim.trim() || []);
}

describe('the threat model', () => {
  const sections = page.split(/^## (.*)\n/m).slice(1);
  const claims = sections.flatMap((name, index) =>
    index % 2 === 0 && !NO_CLAIMS.includes(name) ? claimsOf(sections[index + 1] ?? '') : [],
  );

  test('has a test behind every claim', () => {
    expect(claims.length).toBeGreaterThan(50);
    expect(claims.filter((claim) => namedTests(claim).length === 0)).toEqual([]);
    for (const section of NO_CLAIMS) expect(sections).toContain(section);
  });
});

describe('a scanner', () => {
  const keys = [generateKey('live'), generateKey('test')];
  const [live = ''] = keys;
  const mistyped = live.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'));
  const [pattern = ''] = blocksOf(page).flatMap(({ code }) => (code.startsWith('svc_') ? [code.trim()] : []));
  const [example = ''] = blocksOf(page).flatMap(({ language, code }) => (language === 'ts' ? [code] : []));
  const surroundings = [
    (key: string) => key,
    (key: string) => `FILE_HOSTING_KEY=${key}`,
    (key: string) => `Authorization: Bearer ${key}\r`,
    (key: string) => `{"key":"${key}"}`,
    (key: string) => `?key=Bearer%20${key}&x=1`,
    (key: string) => `a_${key}_b`,
  ];
  const nearMisses = [
    live.slice(0, -1),
    live.toUpperCase(),
    live.replace('svc_live_', 'svc_prod_'),
    live.replace('svc_live_', 'svc_live-'),
    `${live.slice(0, 30)}-${live.slice(31)}`,
    'svc_live_…',
  ];

  test('finds every key by the pattern of the page, wherever it stands, and no text of another form', () => {
    for (const key of keys) {
      for (const within of surroundings) expect(within(key).match(new RegExp(pattern, 'g'))).toEqual([key]);
    }
    for (const text of nearMisses) expect(text).not.toMatch(new RegExp(pattern));
  });

  test('tells real keys by their checksum, with the program of the page', () => {
    const folder = mkdtempSync(join(tmpdir(), 'scanner-'));
    try {
      const file = join(folder, 'scanner.ts');
      writeFileSync(file, example);
      const random = `svc_live_${'a'.repeat(49)}`;
      const input = [
        ...keys.flatMap((key) => surroundings.map((within) => within(key))),
        ...nearMisses,
        mistyped,
        random,
      ];
      const found = execFileSync(process.execPath, [file], { input: input.join('\n'), encoding: 'utf8' });
      expect(found.trim().split('\n')).toEqual(keys.flatMap((key) => surroundings.map(() => key)));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

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
