import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeleteObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SAVED_QUERIES } from '../../infra/settings/log-queries.ts';
import type { Template } from '../../local-aws/service.ts';
import { objectKeyOfLink } from '../../shared/files/object-key.ts';
import { client } from '../support/client.ts';
import { operatorOf } from '../support/operator.ts';
import { startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { resourcesOf, templatesOf } from '../support/synthesize-stage.ts';
import { onlySynthesized } from '../support/synthesized.ts';
import { shellLines } from './operator-page.ts';

/** Runs what the commands in the section "Stopping traffic" of docs/operate.md do, on the local AWS. */

const page = readFileSync(join(import.meta.dirname, '../../docs/operate.md'), 'utf8');
const linesOf = (title: string) => {
  const [, text = ''] = new RegExp(`\n### ${title}\n([\\s\\S]*?)\n##`).exec(page) ?? [];
  return shellLines(text);
};

interface Throttle {
  readonly method: string;
  readonly resourcePath: string;
  readonly limit: 'ThrottlingRateLimit' | 'ThrottlingBurstLimit';
  readonly value: number;
}

const LIMITS = { rateLimit: 'ThrottlingRateLimit', burstLimit: 'ThrottlingBurstLimit' } as const;

/** The throttles that the commands of a section set, by `update-stage`. */
function throttlesIn(title: string): Throttle[] {
  return linesOf(title).flatMap((line) =>
    [...line.matchAll(/op=replace,path=(\/\S+?)\/([A-Z]+)\/throttling\/(\w+),value=(\d+)/g)].map(
      ([, resourcePath = '', method = '', limit, value]) => ({
        method,
        resourcePath,
        limit: LIMITS[limit as keyof typeof LIMITS],
        value: Number(value),
      }),
    ),
  );
}
const stopsIn = (title: string) => throttlesIn(title).filter(({ value }) => value === 0);

/** Sets throttles as the commands do. @throws Error when the stage has no setting at such a path. */
function setThrottles(templates: Record<string, Template>, throttles: readonly Throttle[]): void {
  const [stage] = Object.values(templates).flatMap((template) => resourcesOf(template, 'AWS::ApiGateway::Stage'));
  const settings = stage?.Properties?.MethodSettings as {
    HttpMethod: string;
    ResourcePath: string;
    ThrottlingRateLimit: number;
    ThrottlingBurstLimit: number;
  }[];
  for (const { method, resourcePath, limit, value } of throttles) {
    const setting = settings.find((one) => one.HttpMethod === method && one.ResourcePath === resourcePath);
    if (!setting) throw new Error(`there is no setting of ${method} ${resourcePath}`);
    setting[limit] = value;
  }
}

test.each(['Stopping uploads', 'Stopping logins'])(
  '%s: the commands that stop traffic and those that start it again name the same routes, with the limits of the stack',
  async (title) => {
    const started = throttlesIn(title).filter(({ value }) => value > 0);
    const routes = (throttles: readonly Throttle[]) => throttles.map(({ value: _, ...route }) => route);
    expect(started.length).toBeGreaterThan(0);
    expect(routes(stopsIn(title))).toEqual(routes(started));
    // If a command set only the rate to 0, the gateway might still admit as many requests as its burst allows.
    expect(new Set(started.map(({ limit }) => limit))).toEqual(new Set(Object.values(LIMITS)));
    const { MethodSettings } = (await onlySynthesized('Api', 'AWS::ApiGateway::Stage')).Properties;
    for (const { method, resourcePath, limit, value } of started) {
      const setting = { HttpMethod: method, ResourcePath: resourcePath, [limit]: value };
      expect(MethodSettings).toContainEqual(expect.objectContaining(setting));
    }
  },
);

describe('the commands of "Stopping traffic"', () => {
  let dataDir: string;
  let account: TestAccount;
  let fileId: string;
  const accountId = '123456789099';
  const startStopped = (title: string): Promise<TestService> =>
    startTestService(
      {},
      {
        dataDir,
        accountId,
        mayLackGrants: true,
        mayBreakApi: true,
        edit: (templates) => setThrottles(templates, stopsIn(title)),
      },
    );

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'stopping-traffic-'));
    const service = await startTestService({}, { dataDir, accountId });
    account = await service.newAccount();
    fileId = String((await account.byKey.upload('before.txt', 'before')).body.id);
    await service.close();
  });
  afterAll(() => rm(dataDir, { recursive: true }));

  test('stop logins; sessions and keys go on working', async () => {
    const service = await startStopped('Stopping logins');
    for (const path of ['/auth/google', '/auth/google/callback?state=a&code=b']) {
      const { status, body } = await client(service.urls.base_url, {}).request('GET', path);
      expect([path, status, body]).toEqual([path, 429, { error: 'rate_limit_exceeded' }]);
    }
    const { key, cookie } = account;
    expect((await client(service.urls.base_url, { cookie }).request('GET', '/auth/me')).status).toBe(200);
    expect((await client(service.urls.base_url, { key }).request('GET', '/files')).status).toBe(200);
    await service.close();
  });

  test('stop uploads in every lane; lists and deletions go on working', async () => {
    const [, policy = ''] = /stop-uploads --policy-document '(.*)'/.exec(linesOf('Stopping uploads').join('\n')) ?? [];
    const service = await startStopped('Stopping uploads');
    const grants = service.front.grantsUnused();
    const role = grants.find(({ principal }) => principal.startsWith('FileHosting-local-Streaming-Role'))?.principal;
    service.front.addPolicy(String(role), JSON.parse(policy));
    const byKey = client(service.urls.base_url, { key: account.key });
    const small = await byKey.upload('small.txt', 'small');
    expect([small.status, small.body]).toEqual([429, { error: 'rate_limit_exceeded' }]);
    const ticket = await byKey.postJson('/uploads', { name: 'a', mime_type: 'text/plain', size_bytes: 1 });
    expect([ticket.status, ticket.body]).toEqual([429, { error: 'rate_limit_exceeded' }]);
    const large = await byKey.upload('large.bin', 'x'.repeat(6_000_000));
    expect([large.status, large.body]).toEqual([503, { error: 'service_unavailable' }]);
    expect(service.logs.join()).toContain('"detail":"stopped by an operator"');
    expect(service.logs.join()).not.toContain('internal_error');
    const { status, body } = await byKey.request('GET', '/files');
    expect([status, body.total]).toEqual([200, 1]);
    expect((await byKey.request('DELETE', `/files/${fileId}`)).status).toBe(200);
    await service.close();
  });
});

test.each([
  ['hide the object of the link that the log names', 0, ['head-object', 'delete-object']],
  ['hide nothing when there is no such object', 254, ['head-object']],
])('the commands that stop the downloads of a file %s', (_, code, called) => {
  const lines = linesOf('Finding a hot link, and stopping it');
  const start = lines.findIndex((line) => line.startsWith('STEM='));
  const [, stem = ''] = lines[start]?.split('=') ?? [];
  const aws = `aws() { echo "$@"; return ${code}; }; BUCKET=b`;
  const { stdout } = spawnSync('sh', ['-c', [aws, ...lines.slice(start, start + 3)].join('\n')], { encoding: 'utf8' });
  const key = objectKeyOfLink(`https://cdn.example.net${stem}`, ['https://cdn.example.net']);
  expect(stdout.trim().split('\n')).toEqual(called.map((name) => `s3api ${name} --bucket b --key ${key}`));
});

test('hiding the object of a link stops its downloads', async () => {
  const service = await startTestService();
  const operator = operatorOf(service);
  try {
    const { body } = await (await service.newAccount()).byKey.upload('hot.txt', 'hot');
    const url = String(body.url);
    const object = { Bucket: operator.bucket, Key: objectKeyOfLink(url, [service.urls.cdn_url]) };
    await operator.s3.send(new DeleteObjectCommand(object));
    expect((await fetch(url)).status).toBe(404);
  } finally {
    operator.close();
    await service.close();
  }
});

test('the function that stops everything switches off the distribution that was read, and changes nothing else', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'switch-'));
  const lines = linesOf('Stopping everything');
  const end = lines.indexOf('}');
  const config = { CallerReference: 'x', Enabled: true, Origins: { Quantity: 0 } };
  const read = JSON.stringify({ ETag: 'E1', DistributionConfig: config });
  const aws = `aws() { case "$2" in get-*) echo '${read}';; *) echo "$@";; esac; }`;
  const script = [aws, ...lines.slice(0, end + 1), 'switch D1 false'].join('\n');
  const { stdout, stderr } = spawnSync('bash', ['-c', script], { cwd: directory, encoding: 'utf8' });
  const options = '--id D1 --if-match E1 --distribution-config file://switched.json';
  expect([stdout, stderr]).toEqual([`cloudfront update-distribution ${options}\n`, '']);
  const switched = JSON.parse(readFileSync(join(directory, 'switched.json'), 'utf8'));
  expect(switched).toEqual({ ...config, Enabled: false });
  await rm(directory, { recursive: true });
});

test('the log of downloads has the fields that the query in the guide asks for, and none that tells who reads', async () => {
  const { EdgeAlarms } = await templatesOf('prod');
  const ofDownloads = (type: string) =>
    resourcesOf(EdgeAlarms, type).filter(({ Properties }) =>
      /downloads$/.test(String(Properties?.Name ?? Properties?.DeliverySourceName)),
    );
  const [delivery] = ofDownloads('AWS::Logs::Delivery');
  const fields = delivery?.Properties?.RecordFields as string[];
  const [query = ''] = linesOf('Finding a hot link, and stopping it').filter((line) => line.includes('start-query'));
  const asked = [...query.matchAll(/`([a-z-]+)`/g)].map(([, field]) => field);
  expect(asked).toEqual(['sc-bytes', 'cs-uri-stem']);
  expect(fields).toEqual(expect.arrayContaining(asked));
  expect(
    fields.filter((field) => /ip|host|referer|cookie|agent|query|forwarded|port|asn|country/i.test(field)),
  ).toEqual([]);
  expect(query).toContain(`'${SAVED_QUERIES['hot-links'].text}'`);
  const [source] = ofDownloads('AWS::Logs::DeliverySource');
  expect(JSON.stringify(source?.Properties?.ResourceArn)).toContain('{"Fn::GetAtt":["CdnDistributionId');
  const groups = resourcesOf(EdgeAlarms, 'AWS::Logs::LogGroup');
  expect(groups.map(({ Properties }) => Properties?.RetentionInDays)).toEqual([30, 7]);
});
