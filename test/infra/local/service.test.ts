import { describe, expect, test } from 'vitest';
import type { Template, TemplateResource } from '../../../infra/local/template/assembly.ts';
import { client } from '../../support/client.ts';
import { startTestService, type TestService } from '../../support/service.ts';

/**
 * The local environment knows the service by its templates alone: what the stack would forget is missing here too. Each of
 * these takes one thing out of the templates, in memory.
 */

type Templates = Record<string, Template>;

/** Starts the service of the edited templates, asks it something, and closes it. */
async function withEdit<T>(
  edit: (templates: Templates) => void,
  ask: (service: TestService) => Promise<T>,
): Promise<T> {
  const service = await startTestService({}, { edit, mayLackGrants: true });
  try {
    return await ask(service);
  } finally {
    await service.close();
  }
}

function resourcesOf(templates: Templates, type: string): [logicalId: string, resource: TemplateResource][] {
  return Object.values(templates).flatMap(({ Resources }) =>
    Object.entries(Resources).filter(([, { Type }]) => Type === type),
  );
}

/** The one resource of the type whose logical id starts so. */
function resource(templates: Templates, type: string, start: string): TemplateResource {
  const found = resourcesOf(templates, type).filter(([logicalId]) => logicalId.startsWith(start));
  expect(found.map(([logicalId]) => logicalId)).toHaveLength(1);
  return found[0]?.[1] as TemplateResource;
}

function remove(templates: Templates, resource: TemplateResource): void {
  for (const { Resources } of Object.values(templates)) {
    for (const [logicalId, other] of Object.entries(Resources)) if (other === resource) delete Resources[logicalId];
  }
}

interface Policy {
  PolicyDocument: { Statement: { Action: string | string[]; Effect: string }[] };
}

/** Its properties, to be changed. */
function properties<T>(templates: Templates, type: string, start: string): T {
  return resource(templates, type, start).Properties as T;
}

const health = (service: TestService) => client(service.urls.root_url).request('GET', '/health');

describe('a template', () => {
  test('as it is makes a service that answers', async () => {
    const { status, body } = await withEdit(() => {}, health);
    expect([status, body]).toEqual([200, { status: 'ok', db: 'ok', storage: 'ok' }]);
  });

  test('without a grant makes the function fail, and the log names the grant', async () => {
    const { answer, logs } = await withEdit(
      (templates) => {
        const policy = properties<Policy>(templates, 'AWS::IAM::Policy', 'HealthRoleDefaultPolicy');
        for (const statement of policy.PolicyDocument.Statement) {
          statement.Action = [statement.Action].flat().filter((action) => action !== 'dynamodb:GetItem');
        }
      },
      async (service) => ({ answer: await health(service), logs: service.logs }),
    );
    expect([answer.status, answer.body]).toEqual([503, { status: 'degraded', db: 'error', storage: 'ok' }]);
    expect(logs.join('\n')).toMatch(
      /HealthRole\S+ AccessDenied: dynamodb:GetItem on arn:aws:dynamodb:\S+AccountsTable/,
    );
  });

  test('without a variable makes the function fail, and the log names the variable', async () => {
    const { answer, logs } = await withEdit(
      (templates) => {
        type Fn = { Environment: { Variables: Record<string, unknown> } };
        const { Variables } = properties<Fn>(templates, 'AWS::Lambda::Function', 'HealthFunction').Environment;
        delete Variables.ACCOUNTS_TABLE;
      },
      async (service) => ({ answer: await health(service), logs: service.logs }),
    );
    expect([answer.status, answer.body]).toEqual([503, { error: 'service_unavailable' }]);
    expect(logs.join('\n')).toContain('environment variable ACCOUNTS_TABLE is not set');
  });

  test('without a route has no such route', async () => {
    const answer = await withEdit(
      (templates) => remove(templates, resource(templates, 'AWS::ApiGateway::Method', 'ApihealthGET')),
      health,
    );
    // What is left of the path is its catch-all.
    expect([answer.status, answer.body]).toEqual([405, { error: 'method_not_allowed' }]);
  });

  test('without the permission to invoke a function has a gateway that is refused', async () => {
    const answer = await withEdit((templates) => {
      const permissions = resourcesOf(templates, 'AWS::Lambda::Permission');
      const found = permissions.find(([, { Properties }]) => JSON.stringify(Properties).includes('HealthFunction'));
      remove(templates, found?.[1] as TemplateResource);
    }, health);
    expect([answer.status, answer.body]).toEqual([503, { error: 'service_unavailable' }]);
  });

  test('without a gateway response answers as AWS would', async () => {
    const answer = await withEdit((templates) => {
      remove(templates, resource(templates, 'AWS::ApiGateway::GatewayResponse', 'ApiResponseINTEGRATIONFAILURE'));
      remove(templates, resource(templates, 'AWS::ApiGateway::GatewayResponse', 'ApiResponseDEFAULT5XX'));
      properties<{ Handler: string }>(templates, 'AWS::Lambda::Function', 'HealthFunction').Handler = 'index.missing';
    }, health);
    expect([answer.status, answer.body]).toEqual([502, { message: 'Internal server error' }]);
  });

  test.each([
    ['ENABLED', 1],
    ['DISABLED', 0],
  ])('with an event rule that is %s settles %i of the uploads that nobody completes', async (State, total) => {
    await withEdit(
      (templates) => {
        properties<{ State: string }>(templates, 'AWS::Events::Rule', 'UploadArrived').State = State;
      },
      async (service) => {
        const { byKey } = await service.newAccount();
        const ticket = await byKey.postJson('/files', { name: 'a.txt', mime_type: 'text/plain', size_bytes: 5 });
        const { url, headers } = ticket.body.upload as { url: string; headers: Record<string, string> };
        expect((await fetch(url, { method: 'PUT', headers, body: 'hello' })).status).toBe(200);
        await service.deliverEvents();
        expect((await byKey.request('GET', '/files')).body).toMatchObject({ total });
      },
    );
  });

  test('without the edge’s origin access makes no link work', async () => {
    const status = await withEdit(
      (templates) => {
        const { PolicyDocument } = properties<Policy>(templates, 'AWS::S3::BucketPolicy', 'UploadsPolicy');
        PolicyDocument.Statement = PolicyDocument.Statement.filter(({ Effect }) => Effect !== 'Allow');
      },
      async (service) => {
        const account = await service.newAccount();
        const { body } = await account.byKey.upload('a.txt', 'hello');
        return (await fetch(String(body.url))).status;
      },
    );
    expect(status).toBe(404);
  });

  test('with a resource that is not known here does not start', async () => {
    const edit = (templates: Templates) => {
      const [first] = Object.values(templates);
      Object.assign(first?.Resources ?? {}, { Queue: { Type: 'AWS::SQS::Queue' } });
    };
    await expect(withEdit(edit, health)).rejects.toThrow('nothing for AWS::SQS::Queue (Queue)');
  });
});

test('a function is refused what another function may', async () => {
  const service = await startTestService({}, { mayLackGrants: true });
  const { credentials, variables } = service.lambda.find('HealthFunction');
  const { DynamoDBClient, DeleteItemCommand } = await import('@aws-sdk/client-dynamodb');
  const dynamoDb = new DynamoDBClient({ endpoint: service.front.endpoint, region: 'us-east-1', credentials });
  const deletion = new DeleteItemCommand({ TableName: variables.ACCOUNTS_TABLE, Key: { id: { S: 'any' } } });
  await expect(dynamoDb.send(deletion)).rejects.toMatchObject({ name: 'AccessDeniedException' });
  dynamoDb.destroy();
  await service.close();
});
