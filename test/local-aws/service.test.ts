import { describe, expect, test } from 'vitest';
import { client } from '../support/client.ts';
import { askForTicket, put } from '../support/lanes.ts';
import { startTestService, type TestService } from '../support/service.ts';
import type { Templates } from '../support/template-edits.ts';

/**
 * The local AWS on the synthesized templates: it accepts nothing that AWS would reject. (For the effect of a forgotten grant,
 * variable or route on the service see test/service/template.test.ts.)
 */

async function withService<T>(
  options: Parameters<typeof startTestService>[1],
  ask: (service: TestService) => Promise<T>,
): Promise<T> {
  const service = await startTestService({}, options);
  try {
    return await ask(service);
  } finally {
    await service.close();
  }
}

const health = (service: TestService) => client(service.urls.root_url).request('GET', '/health');

/** The properties of the one resource of `type` whose logical id begins with `start`. The caller changes them. */
function propertiesOf<T>(templates: Templates, type: string, start: string): T {
  const found = Object.values(templates)
    .flatMap(({ Resources }) => Object.entries(Resources))
    .filter(([logicalId, { Type }]) => Type === type && logicalId.startsWith(start));
  expect(found).toHaveLength(1);
  return found[0]?.[1].Properties as T;
}

describe('a template', () => {
  test('links answer 404 when the bucket of the template gives the distribution no access', async () => {
    const edit = (templates: Templates) => {
      type Policy = { PolicyDocument: { Statement: { Effect: string }[] } };
      const { PolicyDocument } = propertiesOf<Policy>(templates, 'AWS::S3::BucketPolicy', 'UploadsPolicy');
      PolicyDocument.Statement = PolicyDocument.Statement.filter(({ Effect }) => Effect !== 'Allow');
    };
    const status = await withService({ edit, mayLackGrants: true }, async (service) => {
      const { byKey } = await service.newAccount();
      const { body } = await byKey.upload('a.txt', 'hello');
      return (await fetch(String(body.url))).status;
    });
    expect(status).toBe(404);
  });

  test('a distribution that forwards every path still gives access to nothing but linked files', async () => {
    const edit = (templates: Templates) => {
      type Config = { DistributionConfig: { DefaultCacheBehavior: { FunctionAssociations?: unknown } } };
      const { DistributionConfig } = propertiesOf<Config>(
        templates,
        'AWS::CloudFront::Distribution',
        'CdnDistribution',
      );
      delete DistributionConfig.DefaultCacheBehavior.FunctionAssociations;
    };
    const seen = await withService({ edit, mayLackGrants: true }, async (service) => {
      const { byKey } = await service.newAccount();
      const { body: file } = await byKey.upload('a.txt', 'hello');
      service.holdEvents();
      const { body: ticket } = await askForTicket(byKey, 'b.txt', 5);
      expect(await put(ticket, 'hello')).toBe(200);
      const arrived = new URL(ticket.upload.url).pathname.replace(/^.*(?=\/incoming\/)/, '');
      const linked = new URL(String(file.url)).pathname.replace(/\/a\.txt$/, '');
      const paths = [linked, arrived, '/uploads/none'];
      return Promise.all(paths.map(async (path) => (await fetch(service.urls.cdn_url + path)).status));
    });
    expect(seen).toEqual([200, 404, 404]);
  });

  test.each([
    ['a type that the local AWS does not know', { Type: 'AWS::EC2::VPC' }, 'nothing for AWS::EC2::VPC (Extra)'],
    [
      'a property that the local AWS does not know',
      { Type: 'AWS::S3::Bucket', Properties: { Color: 1 } },
      'not implement Color',
    ],
    ['a reference to what is not there', { Type: 'AWS::S3::Bucket', Properties: { Tags: { Ref: 'None' } } }, '"None"'],
  ])('a template with %s does not start', async (_what, resource, message) => {
    const edit = (templates: Templates) => {
      Object.assign(Object.values(templates)[0]?.Resources ?? {}, { Extra: resource });
    };
    await expect(withService({ edit }, health)).rejects.toThrow(message);
  });
});

test('startService sets no variable that the template does not give the function', async () => {
  const environment = { STORAGE_LIMIT_BYTES: '5', NEVER_HEARD_OF: '6' };
  await withService({ environment }, async ({ lambda }) => {
    expect(lambda.find('UploadFileFunction').variables.STORAGE_LIMIT_BYTES).toBe('5');
    expect(lambda.find('HealthFunction').variables).not.toHaveProperty('STORAGE_LIMIT_BYTES');
    expect(lambda.find('UploadFileFunction').variables).not.toHaveProperty('NEVER_HEARD_OF');
  });
});

test('the calls of a function are metered under the trace of its request', async () => {
  await withService({}, async (service) => {
    const mark = service.front.meter.mark();
    const response = await fetch(`${service.urls.root_url}/health`);
    const trace = response.headers.get('x-amzn-trace-id')?.replace(/^Root=/, '');
    const calls = service.front.meter.since(mark).calls.filter(({ traceId }) => traceId === trace);
    expect(calls.map(({ operation }) => operation).sort()).toEqual(['GetItem', 'HeadBucket']);
  });
});
