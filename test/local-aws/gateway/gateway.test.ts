import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, test } from 'vitest';
import { readRestApis } from '../../../local-aws/gateway/rest-api.ts';
import { deploy, lambdaFunction } from '../assembly-fixture.ts';
import { answerOf, closeGateways, gatewayResponse, gatewayWith, restApi } from './gateway-fixture.ts';

afterAll(closeGateways);

/** Answers with the event it got. */
const ECHO = 'exports.handler = async (event) => ({ statusCode: 200, body: JSON.stringify(event) })';
/** Answers with what the request's body says. */
const REPLY = 'exports.handler = async (event) => JSON.parse(event.body)';

const echo = (routes: Record<string, string> = { 'ANY /files/{id}': 'Echo' }, binary: string[] = []) =>
  sharedGateway(routes, binary, { Echo: ECHO });
const reply = () => sharedGateway({ 'POST /reply': 'Reply' }, [], { Reply: REPLY });

const shared = new Map<string, ReturnType<typeof gatewayWith>>();

/** A gateway that all tests with the same arguments use one after the other, because its function takes a while to start. */
async function sharedGateway(routes: Record<string, string>, binary: string[], code: Record<string, string>) {
  const key = JSON.stringify([routes, binary, code]);
  const started = shared.get(key) ?? gatewayWith(restApi(routes, binary), code);
  shared.set(key, started);
  const gateway = await started;
  gateway.failures.length = 0;
  return gateway;
}

describe('the event that the gateway sends to a function', () => {
  test('has all fields of format 1.0', async () => {
    const { send, api } = await echo();
    const { body } = await send('GET /files/a%20b?x=1&y=2&x=3', { 'User-Agent': 'tests', 'X-Twice': ['a', 'b'] });
    const headers = {
      'User-Agent': 'tests',
      'X-Twice': 'b',
      Host: `${api.id}.execute-api.eu-west-1.amazonaws.com`,
      'X-Amzn-Trace-Id': expect.stringMatching(/^Root=1-[0-9a-f]{8}-[0-9a-f]{24}$/),
      'X-Forwarded-For': '127.0.0.1',
      'X-Forwarded-Port': '443',
      'X-Forwarded-Proto': 'https',
    };
    const lists = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
    expect(JSON.parse(body)).toEqual({
      resource: '/files/{id}',
      path: '/files/a%20b',
      httpMethod: 'GET',
      headers,
      multiValueHeaders: { ...lists, 'X-Twice': ['a', 'b'] },
      queryStringParameters: { x: '3', y: '2' },
      multiValueQueryStringParameters: { x: ['1', '3'], y: ['2'] },
      pathParameters: { id: 'a%20b' },
      stageVariables: null,
      requestContext: {
        accountId: '111122223333',
        apiId: api.id,
        deploymentId: expect.stringMatching(/^[0-9a-z]{6}$/),
        domainName: `${api.id}.execute-api.eu-west-1.amazonaws.com`,
        domainPrefix: api.id,
        extendedRequestId: expect.stringMatching(/^[\w-]{15}=$/),
        httpMethod: 'GET',
        identity: {
          accessKey: null,
          accountId: null,
          caller: null,
          cognitoAuthenticationProvider: null,
          cognitoAuthenticationType: null,
          cognitoIdentityId: null,
          cognitoIdentityPoolId: null,
          principalOrgId: null,
          sourceIp: '127.0.0.1',
          user: null,
          userAgent: 'tests',
          userArn: null,
        },
        path: '/live/files/a%20b',
        protocol: 'HTTP/1.1',
        requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        requestTime: expect.stringMatching(/^\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000$/),
        requestTimeEpoch: expect.any(Number),
        resourceId: expect.stringMatching(/^[0-9a-z]{6}$/),
        resourcePath: '/files/{id}',
        stage: 'live',
      },
      body: null,
      isBase64Encoded: false,
    });
  });

  test('has null for parts that the request lacks', async () => {
    const { send } = await echo({ 'ANY /files/{id}': 'Echo', 'GET /': 'Echo' });
    expect(JSON.parse((await send('GET /')).body)).toMatchObject({
      queryStringParameters: null,
      multiValueQueryStringParameters: null,
      pathParameters: null,
    });
  });

  test.each([
    ['a=b%20c', { a: ['b c'] }],
    ['a=b+c', { a: ['b c'] }],
    ['a=%C3%BC', { a: ['ü'] }],
    ['a', { a: [''] }],
    ['a=1;b=2', { a: ['1'], b: ['2'] }],
    ['__proto__=x', { ['__proto__']: ['x'] }],
    ['a=%zz', { a: ['%zz'] }],
  ])('has the parameters of the query "%s", decoded', async (query, expected) => {
    const { send } = await echo();
    const event = JSON.parse((await send(`GET /files/1?${query}`)).body);
    expect(Object.entries(event.multiValueQueryStringParameters)).toEqual(Object.entries(expected));
  });

  test('has the caller at the end of X-Forwarded-For, and no forged X-Forwarded-Proto or X-Amzn-Trace-Id', async () => {
    const { send } = await echo();
    const forged = { 'x-forwarded-for': '6.6.6.6', 'x-forwarded-proto': 'http', 'x-amzn-trace-id': 'forged' };
    const { headers } = JSON.parse((await send('GET /files/1', forged)).body);
    expect(headers).toMatchObject({ 'X-Forwarded-For': '6.6.6.6, 127.0.0.1', 'X-Forwarded-Proto': 'https' });
    expect(headers['X-Amzn-Trace-Id']).not.toContain('forged');
    expect(Object.keys(headers).filter((name) => name === name.toLowerCase())).toEqual([]);
  });

  test.each([
    ['connection', 'close'],
    ['te', 'trailers'],
    ['content-length', '0'],
    ['www-authenticate', 'x'],
    ['authorization', 'AWS4-HMAC-SHA256 Credential=a/b'],
  ])('lacks the header %s: %s', async (name, value) => {
    const { send } = await echo();
    const { headers } = JSON.parse((await send('GET /files/1', { [name]: value })).body);
    expect(headers).not.toHaveProperty(name);
  });

  test('keeps an Authorization header that is not an AWS signature', async () => {
    const { send } = await echo();
    const { headers } = JSON.parse((await send('GET /files/1', { Authorization: 'Bearer x' })).body);
    expect(headers.Authorization).toBe('Bearer x');
  });

  test.each([
    ['is in base64 when every type is binary', ['*/*'], 'text/plain', true],
    [
      'is in base64 when its type, without parameters, is binary',
      ['multipart/form-data'],
      'multipart/form-data; boundary=x',
      true,
    ],
    ['is in base64 when all subtypes of its type are binary', ['image/*'], 'image/png', true],
    ['is text when only other types are binary', ['image/*'], 'text/plain', false],
    ['is text when no type is binary', [], 'application/octet-stream', false],
  ])('has a body that %s', async (_name, binary, type, isBase64Encoded) => {
    const { send } = await echo(undefined, binary);
    const event = JSON.parse((await send('POST /files/1', { 'content-type': type }, 'hello')).body);
    expect([event.isBase64Encoded, event.body]).toEqual([isBase64Encoded, isBase64Encoded ? 'aGVsbG8=' : 'hello']);
  });

  test('keeps every byte of a binary body', async () => {
    const { send } = await echo(undefined, ['*/*']);
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    expect(Buffer.from(JSON.parse((await send('POST /files/1', {}, bytes)).body).body, 'base64')).toEqual(bytes);
  });

  test('has the method that X-HTTP-Method-Override names, as on API Gateway', async () => {
    const { send } = await echo({ 'DELETE /files/{id}': 'Echo' });
    const { body } = await send('POST /files/1', { 'X-HTTP-Method-Override': 'DELETE' });
    expect(JSON.parse(body).httpMethod).toBe('DELETE');
  });
});

describe('the answer of the gateway', () => {
  test('is what the function returned', async () => {
    const { send } = await reply();
    const answer = await send(
      'POST /reply',
      {},
      JSON.stringify({
        statusCode: 201,
        headers: { 'Content-Type': 'text/plain', 'X-One': '1', 'X-Same': 'a' },
        multiValueHeaders: { 'Set-Cookie': ['a=1', 'b=2'], 'x-one': ['2'], 'X-Same': ['a', 'b'] },
        body: 'höllo',
      }),
    );
    expect(answer).toMatchObject({ status: 201, body: 'höllo' });
    expect(answer.headers).toMatchObject({
      'content-type': 'text/plain',
      'content-length': '6',
      'set-cookie': ['a=1', 'b=2'],
      'x-one': '1, 2',
      'x-same': 'a, b',
      'x-amzn-requestid': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'x-amzn-trace-id': expect.stringMatching(/^Root=1-/),
    });
  });

  test('has the type JSON when the function gives none, and may have no body', async () => {
    const { send } = await reply();
    const answer = await send('POST /reply', {}, '{"statusCode":"204"}');
    expect(answer).toMatchObject({ status: 204, body: '', headers: { 'content-type': 'application/json' } });
    expect(answer.headers).not.toHaveProperty('content-length');
  });

  test('is 200 when the function gives no status', async () => {
    const { send } = await reply();
    expect(await send('POST /reply', {}, '{}')).toMatchObject({ status: 200, body: '' });
  });

  test.each([
    ['WWW-Authenticate', 'x-amzn-remapped-www-authenticate'],
    ['Authorization', 'x-amzn-remapped-authorization'],
  ])('has %s under the name %s', async (name, remapped) => {
    const { send } = await reply();
    const { headers } = await send('POST /reply', {}, JSON.stringify({ statusCode: 200, headers: { [name]: 'x' } }));
    expect(headers[remapped]).toBe('x');
    expect(headers[name.toLowerCase()]).toBeUndefined();
  });

  test.each([
    ['is decoded when its type is binary and the function says that it is in base64', ['*/*'], true, 'hello'],
    ['stays when the function does not say that it is in base64', ['*/*'], false, 'aGVsbG8='],
    ['stays when its type is not binary', [], true, 'aGVsbG8='],
  ])('has a body in base64 that %s', async (_name, binary, isBase64Encoded, expected) => {
    const code = `exports.handler = async () => (${JSON.stringify({ statusCode: 200, body: 'aGVsbG8=', isBase64Encoded })})`;
    const { send } = await gatewayWith(restApi({ 'GET /': 'F' }, binary), { F: code });
    expect((await send('GET /')).body).toBe(expected);
  });

  test.each([
    ['null', 'null'],
    ['a text', '"text"'],
    ['a part that the gateway does not know', '{"statusCode":200,"status":200}'],
    ['an error', '{"errorMessage":"boom"}'],
    ['a number as a header', '{"headers":{"X":1}}'],
    ['a status that is not a number', '{"statusCode":"abc"}'],
    ['an object as body', '{"statusCode":200,"body":{}}'],
    ['a header with a line break', '{"statusCode":200,"headers":{"X":"a\\nb"}}'],
    ['a header name with a space', '{"statusCode":200,"headers":{"a b":"c"}}'],
    ['a text instead of the list of a header', '{"statusCode":200,"multiValueHeaders":{"X":"a"}}'],
  ])('is 502 when the function returns %s', async (_name, result) => {
    const { send, failures } = await reply();
    const answer = await send('POST /reply', {}, result);
    expect(answer).toMatchObject({ status: 502, body: '{"message":"Internal server error"}' });
    expect(failures).toEqual(['the function gave a malformed proxy response']);
  });
});

describe('without configured responses, the gateway answers with AWS’s own errors:', () => {
  const FAILS = `exports.handler = async (event) => {
    if (event.path === '/hang') await new Promise(() => {});
    throw new Error('boom');
  }`;
  const failing = (properties = {}) => gatewayWith(restApi({ 'ANY /{proxy+}': 'F' }), { F: FAILS }, properties);

  test.each([['throws', '/throw']])('a function that %s is a 502', async (_name, path) => {
    const { send } = await failing({ Timeout: 1 });
    const answer = await send(`GET ${path}`);
    expect(answer).toMatchObject({ status: 502, body: '{"message":"Internal server error"}' });
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json',
      'x-amzn-errortype': 'InternalServerErrorException',
    });
  });

  test('a function that takes longer than the integration may is a 504', async () => {
    const resources = restApi({ 'ANY /{proxy+}': 'F' });
    for (const { Type, Properties } of Object.values(resources)) {
      if (Type === 'AWS::ApiGateway::Method') Object.assign(Properties?.Integration as object, { TimeoutInMillis: 50 });
    }
    const { send } = await gatewayWith(resources, { F: FAILS });
    expect(await send('GET /hang')).toMatchObject({ status: 504, body: '{"message":"Endpoint request timed out"}' });
  });

  test('a throttled function is a 500', async () => {
    const { send } = await failing({ ReservedConcurrentExecutions: 0 });
    expect(await send('GET /any')).toMatchObject({ status: 500, body: '{"message":"Internal server error"}' });
  });

  test('a function that the gateway has no permission to invoke is a 500', async () => {
    const { PermissionF: _removed, ...resources } = restApi({ 'ANY /{proxy+}': 'F' });
    const { send, failures } = await gatewayWith(resources, { F: FAILS });
    expect(await send('GET /any')).toMatchObject({ status: 500, body: '{"message":"Internal server error"}' });
    expect(failures.join()).toContain('apigateway.amazonaws.com may not invoke');
  });

  test.each([
    ['without Authorization', {}, 'Missing Authentication Token', 'MissingAuthenticationTokenException'],
    [
      'with an Authorization that is not a signature',
      { authorization: 'Bearer abc' },
      "'abc' not a valid key=value pair (missing equal-sign) in Authorization header: 'Bearer abc'.",
      'IncompleteSignatureException',
    ],
  ])('a request %s to an unknown route is a 403', async (_name, headers, message, type) => {
    const { send } = await echo();
    const answer = await send('GET /nothing', headers);
    expect(answer).toMatchObject({ status: 403, headers: { 'x-amzn-errortype': type } });
    expect(JSON.parse(answer.body)).toEqual({ message });
  });

  test('a path of another stage is a 403', async () => {
    const { port } = await echo();
    const answer = await fetch(`http://127.0.0.1:${port}/other/files/1`);
    expect([answer.status, await answer.text()]).toEqual([403, '{"message":"Forbidden"}']);
  });

  test('a chunked body is a 500', async () => {
    const { open } = await echo();
    const sent = open('POST /files/1', { 'transfer-encoding': 'chunked' });
    expect(await answerOf(sent.end('x'))).toMatchObject({ status: 500 });
  });

  test('a request line and headers of more than 10,240 bytes together are a 431', async () => {
    const { send, open } = await echo();
    const fixed = open('GET /files/1', { 'x-long': '' });
    // `method`, target, and what node:http adds.
    const others = ['GET', '/live/files/1', 'x-long', 'Host', fixed.getHeader('host'), 'Connection', 'close'].join('');
    fixed.on('error', () => {}).destroy();
    const left = 10_240 - others.length;
    expect((await send('GET /files/1', { 'x-long': 'x'.repeat(left) })).status).toBe(200);
    expect((await send('GET /files/1', { 'x-long': 'x'.repeat(left + 1) })).status).toBe(431);
  });

  test('bytes that are not HTTP are a 400', async () => {
    const { port } = await echo();
    const socket = connect(port, '127.0.0.1');
    socket.end('nonsense\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('a method that requires an API key', () => {
  const KEYS = { good: 'good-key-of-20-letters', off: 'key-that-is-not-enabled', loose: 'key-that-is-in-no-plan' };
  function keyedApi(stage: unknown = { ApiId: { Ref: 'Api' }, Stage: { Ref: 'Stage' } }) {
    const resources = restApi({ 'GET /keyed': 'Echo', 'GET /open': 'Echo' });
    const method = Object.values(resources).find(({ Type }) => Type === 'AWS::ApiGateway::Method');
    Object.assign(method?.Properties as object, { ApiKeyRequired: true });
    resources.Plan = { Type: 'AWS::ApiGateway::UsagePlan', Properties: { ApiStages: [stage] } };
    for (const [name, Value] of Object.entries(KEYS)) {
      const Enabled = name === 'off' ? {} : { Enabled: true };
      resources[name] = { Type: 'AWS::ApiGateway::ApiKey', Properties: { Value, ...Enabled } };
      if (name === 'loose') continue;
      const Properties = { KeyId: { Ref: name }, KeyType: 'API_KEY', UsagePlanId: { Ref: 'Plan' } };
      resources[`In${name}`] = { Type: 'AWS::ApiGateway::UsagePlanKey', Properties };
    }
    return resources;
  }

  test('runs its function only for an enabled key in a usage plan of the stage', async () => {
    const { send } = await gatewayWith(keyedApi(), { Echo: ECHO });
    const answer = await send('GET /keyed', { 'X-Api-Key': KEYS.good });
    const { identity } = JSON.parse(answer.body).requestContext;
    expect(identity).toMatchObject({ apiKey: KEYS.good, apiKeyId: expect.stringMatching(/^[a-z0-9]{10}$/) });
    for (const key of [undefined, '', 'unknown', KEYS.off, KEYS.loose, KEYS.good.toUpperCase()]) {
      const refused = await send('GET /keyed', key === undefined ? {} : { 'X-Api-Key': key });
      expect(refused).toMatchObject({ status: 403, body: '{"message":"Forbidden"}' });
      expect(refused.headers['x-amzn-errortype']).toBe('ForbiddenException');
    }
    const open = await send('GET /open');
    expect(open.status).toBe(200);
    expect(JSON.parse(open.body).requestContext.identity).not.toHaveProperty('apiKey');
  });

  test('rejects a key of a usage plan of another stage', async () => {
    const { send } = await gatewayWith(keyedApi({ ApiId: { Ref: 'Api' }, Stage: 'other' }), { Echo: ECHO });
    expect((await send('GET /keyed', { 'X-Api-Key': KEYS.good })).status).toBe(403);
  });

  test('a usage plan with limits is an error at the start', async () => {
    const limited = keyedApi({ ApiId: { Ref: 'Api' }, Stage: { Ref: 'Stage' }, Throttle: { '/a/GET': {} } });
    await expect(gatewayWith(limited, { Echo: ECHO })).rejects.toThrow('Plan: the local gateway counts no requests');
    const quota = keyedApi();
    Object.assign(quota.Plan?.Properties as object, { Quota: { Limit: 1, Period: 'DAY' } });
    await expect(gatewayWith(quota, { Echo: ECHO })).rejects.toThrow('does not implement Quota');
  });
});

describe('the body of a request', () => {
  const LENGTH = 'exports.handler = async (event) => ({ statusCode: 200, body: String(event.body?.length) })';
  const MIB = 1024 * 1024;

  test.each([
    [4 * MIB, 200, String(Math.ceil((4 * MIB) / 3) * 4)],
    [5 * MIB, 413, '{"message":"Request Too Long"}'],
    [10 * MIB, 413, '{"message":"Request Too Long"}'],
    [10 * MIB + 1, 413, 'HTTP content length exceeded 10485760 bytes.'],
  ])('a body of %i bytes is answered %i', async (bytes, status, expected) => {
    const responses = { Large: gatewayResponse('REQUEST_TOO_LARGE', { StatusCode: '418' }) };
    const { send } = await gatewayWith({ ...restApi({ 'POST /': 'F' }, ['*/*']), ...responses }, { F: LENGTH });
    // The status stays 413, because AWS lets no template change it.
    expect(await send('POST /', {}, Buffer.alloc(bytes))).toMatchObject({ status, body: expected });
  });

  test('the gateway keeps working when a client does not finish its body', async () => {
    const { open, send, failures } = await echo();
    const sent = open('POST /files/1', { 'content-length': '100' });
    sent.on('error', () => {});
    sent.write('part');
    await send('GET /files/1');
    sent.destroy();
    expect((await send('GET /files/1')).status).toBe(200);
    expect(failures).toEqual([]);
  });
});

describe('a configured error', () => {
  const JSON_ERROR = { ResponseTemplates: { 'application/json': '{"error":"not_found"}' } };
  const headers = (mapping: string) => ({ 'gatewayresponse.header.X-Mapped': mapping });
  const withResponses = (responses: Record<string, ReturnType<typeof gatewayResponse>>) =>
    gatewayWith({ ...restApi({ 'GET /throw': 'F' }), ...responses }, { F: 'exports.handler = () => { throw 1 }' });

  test('an error with a response of its own type has the status, body and headers of the template', async () => {
    const { send } = await withResponses({
      A: gatewayResponse('MISSING_AUTHENTICATION_TOKEN', {
        ...JSON_ERROR,
        StatusCode: '404',
        ResponseParameters: headers("'no-store'"),
      }),
    });
    expect(await send('GET /nothing')).toMatchObject({
      status: 404,
      body: '{"error":"not_found"}',
      headers: { 'content-type': 'application/json', 'x-mapped': 'no-store' },
    });
  });

  test.each([
    ['DEFAULT_4XX', 'GET /nothing', 403],
    ['DEFAULT_5XX', 'GET /throw', 502],
  ])(
    'an error without a response of its own type gets the response %s, and keeps its status',
    async (type, request, status) => {
      const { send } = await withResponses({ A: gatewayResponse(type, JSON_ERROR) });
      expect(await send(request)).toMatchObject({ status, body: '{"error":"not_found"}' });
    },
  );

  test('may use context variables of the request', async () => {
    const template =
      '{"id":"$context.requestId","said":$context.error.messageString,"type":"$context.error.responseType"}';
    const { send } = await withResponses({
      A: gatewayResponse('INTEGRATION_FAILURE', {
        ResponseTemplates: { 'application/problem+json': template },
        ResponseParameters: headers('context.requestId'),
      }),
    });
    const answer = await send('GET /throw');
    const requestId = answer.headers['x-amzn-requestid'];
    expect(answer.headers).toMatchObject({ 'content-type': 'application/problem+json', 'x-mapped': requestId });
    expect(JSON.parse(answer.body)).toEqual({
      id: requestId,
      said: 'Internal server error',
      type: 'INTEGRATION_FAILURE',
    });
  });
});

test.each([
  [
    'an integration of another kind',
    { Integration: { Type: 'MOCK', IntegrationHttpMethod: 'POST' } },
    'does not support MOCK',
  ],
  ['an authorizer', { AuthorizationType: 'AWS_IAM' }, 'does not support AWS_IAM'],
  ['a property that is not known', { RequestModels: {} }, 'does not implement RequestModels'],
])('a method with %s is an error at the start', async (_name, difference, message) => {
  const resources = restApi({ 'GET /': 'F' });
  const method = Object.values(resources).find(({ Type }) => Type === 'AWS::ApiGateway::Method');
  Object.assign(method?.Properties ?? {}, difference);
  const deployment = await deploy({ F: lambdaFunction('code'), ...resources }, { code: { 'index.js': '' } });
  expect(() => readRestApis(deployment)).toThrow(message);
});

test('a path with a property that is not known is an error at the start', async () => {
  const resources = restApi({ 'GET /files': 'F' });
  Object.assign(resources.Path_files?.Properties ?? {}, { Unknown: true });
  const deployment = await deploy({ F: lambdaFunction('code'), ...resources }, { code: { 'index.js': '' } });
  expect(() => readRestApis(deployment)).toThrow('Path_files: the local AWS does not implement Unknown');
});

test('a gateway response of a type that is not known is an error at the start', async () => {
  const resources = { ...restApi({ 'GET /': 'F' }), Misspelt: gatewayResponse('MISSING_AUTHENTICATION', {}) };
  const deployment = await deploy({ F: lambdaFunction('code'), ...resources }, { code: { 'index.js': '' } });
  expect(() => readRestApis(deployment)).toThrow('Misspelt: the local gateway does not know MISSING_AUTHENTICATION');
});

describe('the access log of the gateway', () => {
  const withLog = (Format: string) => {
    const resources = restApi({ 'POST /reply': 'Reply' });
    const [stage] = Object.values(resources).filter(({ Type }) => Type === 'AWS::ApiGateway::Stage');
    const DestinationArn = 'arn:aws:logs:eu-west-1:111122223333:log-group:requests';
    Object.assign(stage?.Properties ?? {}, { AccessLogSetting: { DestinationArn, Format } });
    return gatewayWith(resources, { Reply: REPLY });
  };

  test('has a line for each request, with a dash for each variable without a value', async () => {
    const { send, accesses } = await withLog(
      '$context.httpMethod $context.resourcePath $context.status $context.integration.status $context.error.responseType',
    );
    await send('POST /reply', {}, '{"statusCode":403,"body":""}');
    await send('POST /reply', {}, '{}}');
    await send('GET /nothing');
    expect(accesses).toEqual([
      'requests POST /reply 403 200 -',
      'requests POST /reply 502 200 INTEGRATION_FAILURE',
      'requests GET - 403 - MISSING_AUTHENTICATION_TOKEN',
    ]);
  });

  test('is refused with a variable that the local gateway does not know', async () => {
    await expect(withLog('$context.authorizer.claims')).rejects.toThrow('does not know $context.authorizer.claims');
  });
});
