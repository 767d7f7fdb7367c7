import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { readWebFunctions } from '../../../local-aws/lambda/function-config.ts';
import {
  Silence,
  startWebFunctionEndpoint,
  type WebFunctionEndpoint,
} from '../../../local-aws/lambda/web-function-endpoint.ts';
import { deploy } from '../assembly-fixture.ts';

const endpoints: WebFunctionEndpoint[] = [];
afterEach(async () => {
  await Promise.all(endpoints.splice(0).map((endpoint) => endpoint.close()));
});

/** The resources CDK makes of one Web Function. */
function resources(service: Record<string, unknown> = {}, endpoint: Record<string, unknown> = {}) {
  return {
    Stream: { Type: 'AWS::Lambda::WebFunction', Properties: {} },
    Copy: {
      Type: 'Custom::S3ObjectCopy',
      Properties: {
        ServiceToken: 'arn:helper',
        SourceBucketName: 'assets-111122223333-eu-west-1',
        SourceObjectKey: 'code.zip',
      },
    },
    Revision: {
      Type: 'AWS::Lambda::WebFunctionRevision',
      Properties: {
        FunctionName: { Ref: 'Stream' },
        BuildConfig: {
          CodeConfig: {
            S3Object: { Bucket: { 'Fn::GetAtt': ['Copy', 'Bucket'] }, Key: { 'Fn::GetAtt': ['Copy', 'Key'] } },
          },
          RuntimeConfig: { Runtime: 'nodejs24.x' },
        },
        ServiceConfig: { ExecutionRoleArn: 'arn:role', EnvironmentVariables: { LIMIT: '5' }, ...service },
      },
    },
    Endpoint: {
      Type: 'AWS::Lambda::WebFunctionEndpoint',
      Properties: {
        AuthType: 'ApplicationManaged',
        FunctionName: { 'Fn::GetAtt': ['Stream', 'FunctionArn'] },
        RevisionWeights: [{ RevisionId: { 'Fn::GetAtt': ['Revision', 'RevisionId'] }, Weight: 100 }],
        ...endpoint,
      },
    },
  };
}

/** An application in which `handle(request, response)` is `code`. */
const application = (code: string) => `
  const [host, port] = process.env.AWS_LAMBDA_HTTP_ENDPOINT.split(':');
  require('node:http').createServer(async (request, response) => { ${code} }).listen(Number(port), host);`;

async function start(code: string, service = {}, endpointProperties = {}) {
  const deployment = await deploy(resources(service, endpointProperties), { code: { 'index.js': code } });
  const [fn] = readWebFunctions(deployment);
  if (!fn) throw new Error('no function');
  const log: string[] = [];
  const surroundings = { region: 'eu-west-1', awsEndpoint: 'http://127.0.0.1:1' };
  const endpoint = await startWebFunctionEndpoint(fn, surroundings, ({ line }) => log.push(line));
  endpoints.push(endpoint);
  const send = (options: { method?: string; path?: string; headers?: Record<string, string> } = {}) =>
    request({ port: endpoint.port, agent: false, ...options, headers: { host: fn.domainName, ...options.headers } });
  const get = async (path = '/', headers = {}) => answerOf(send({ path, headers }).end());
  return { endpoint, send, get, log, fn };
}

async function answerOf(sent: ReturnType<typeof request>) {
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

describe('the application', () => {
  test('gets the request with its body, and answers it', async () => {
    const code = `
      let body = '';
      for await (const chunk of request) body += chunk;
      response.writeHead(201, { 'X-Reply': 'yes', 'set-cookie': ['a=1', 'b=2'] });
      response.end(JSON.stringify([request.method, request.url, request.headers['x-ask'], body]));`;
    const { send } = await start(application(code));
    const answer = await answerOf(send({ method: 'POST', path: '/a?b=c', headers: { 'x-ask': 'me' } }).end('hello'));
    expect(answer.status).toBe(201);
    expect(answer.headers).toMatchObject({ 'x-reply': 'yes', 'set-cookie': ['a=1', 'b=2'] });
    expect(JSON.parse(answer.body)).toEqual(['POST', '/a?b=c', 'me', 'hello']);
  });

  test('has only its own environment variables', async () => {
    const { get, fn } = await start(application('response.end(JSON.stringify(process.env))'));
    const environment = JSON.parse((await get()).body);
    expect(environment).toEqual({
      LIMIT: '5',
      AWS_ACCESS_KEY_ID: fn.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: fn.credentials.secretAccessKey,
      AWS_SESSION_TOKEN: fn.credentials.sessionToken,
      AWS_DEFAULT_REGION: 'eu-west-1',
      AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
      AWS_LAMBDA_HTTP_ENDPOINT: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      AWS_REGION: 'eu-west-1',
      LAMBDA_TASK_ROOT: fn.codeDirectory,
      LANG: 'en_US.UTF-8',
      TZ: ':UTC',
    });
  });

  test('does not get the headers that Lambda removes, and gets a request id', async () => {
    const { get } = await start(application('response.end(JSON.stringify(request.headers))'));
    const headers = JSON.parse(
      (await get('/', { te: 'trailers', 'x-real-ip': '6.6.6.6', 'lambda-web-request-id': 'forged', 'x-own': 'kept' }))
        .body,
    );
    expect(headers).not.toHaveProperty('te');
    expect(headers).not.toHaveProperty('x-real-ip');
    expect(headers['x-own']).toBe('kept');
    expect(headers['lambda-web-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('cannot answer before the whole body was sent, as on AWS', async () => {
    const { send } = await start(application("request.resume(); response.writeHead(413).end('no')"));
    const sent = send({ method: 'POST' });
    let hasAnswer = false;
    sent.once('response', () => {
      hasAnswer = true;
    });
    sent.write('first');
    // Meanwhile another request is sent and answered.
    await answerOf(send().end());
    expect(hasAnswer).toBe(false);
    expect((await answerOf(sent.end('last'))).status).toBe(413);
  });

  test('has its output in the log', async () => {
    const { get, log } = await start(application("console.log('one'); console.error('two'); response.end()"));
    await get();
    await expect.poll(() => log).toEqual(expect.arrayContaining(['one', 'two']));
  });
});

describe('environments', () => {
  /** `/wait` is never answered. */
  const PID = application(`
    console.log(request.url);
    if (request.url === '/pid') response.end(String(process.pid));
    if (request.url === '/crash') process.exit(7);`);

  test('handle as many requests at once as the template says; for more, another one starts', async () => {
    const { send, get, log } = await start(PID, { MaxConcurrencyPerEnvironment: 2 });
    const first = (await get('/pid')).body;
    const waiting: ClientRequest[] = [];
    const answers: Promise<unknown>[] = [];
    for (const places of [1, 2]) {
      const request = send({ path: '/wait' }).end();
      waiting.push(request);
      answers.push(expect(answerOf(request)).rejects.toThrow('socket hang up'));
      await expect.poll(() => log.filter((line) => line === '/wait').length).toBe(places);
    }
    expect((await get('/pid')).body).not.toBe(first);
    for (const request of waiting) request.destroy();
    await Promise.all(answers);
  });

  test('are at most as many as the template says; further requests are refused', async () => {
    const { send, get, log } = await start(
      PID,
      { MaxConcurrencyPerEnvironment: 1 },
      { ScalingConfig: { MaxEnvironments: 1 } },
    );
    const waiting = send({ path: '/wait' }).end();
    const answer = answerOf(waiting);
    // Send the next request only when this one has its place: two requests that are sent at once may arrive in either order.
    await expect.poll(() => log).toContain('/wait');
    expect((await get('/pid')).status).toBe(429);
    waiting.destroy();
    await expect(answer).rejects.toThrow('socket hang up');
    await expect.poll(async () => (await get('/pid')).status).toBe(200);
  });

  test('an environment that crashes answers its requests 502, and the next request starts another', async () => {
    const { get, log } = await start(PID);
    const first = (await get('/pid')).body;
    expect(await get('/crash')).toMatchObject({ status: 502, headers: { 'lambda-web-error-type': 'Runtime.Crashed' } });
    await expect.poll(() => log).toContain('ended; the next request starts it again');
    const second = await get('/pid');
    expect(second.status).toBe(200);
    expect(second.body).not.toBe(first);
  });

  test('an environment that does not start answers 502, and the log says why', async () => {
    const { get, log } = await start('process.exit(3)');
    expect((await get()).status).toBe(502);
    expect(log).toContain('did not start: it ended with code 3');
  });

  test('end with the endpoint, even when they ignore SIGTERM', async () => {
    const code = `process.on('SIGTERM', () => {});${application('response.end(String(process.pid))')}`;
    const { get, endpoint } = await start(code);
    const pid = Number((await get()).body);
    await endpoint.close();
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});

test('a request that takes longer than the timeout is answered 504', async () => {
  const { get } = await start(application(''), { TimeoutSeconds: 1 });
  expect(await get()).toMatchObject({ status: 504, headers: { 'lambda-web-error-type': 'Runtime.RequestTimeout' } });
});

describe('a caller in the process of the endpoint', () => {
  const APPLICATION = application("if (request.url === '/answer') response.writeHead(201, { 'x-a': 'b' }).end('done')");
  const ONE_PLACE = [{ MaxConcurrencyPerEnvironment: 1 }, { ScalingConfig: { MaxEnvironments: 1 } }] as const;
  const begin = async () => {
    const { endpoint, fn } = await start(APPLICATION, ...ONE_PLACE);
    const ask = (url: string, options = {}) =>
      endpoint.handle({ method: 'GET', url, rawHeaders: ['host', fn.domainName] }, undefined, {
        gone: new AbortController().signal,
        ...options,
      });
    return { ask };
  };

  test('gets the same answers as a caller at the port', async () => {
    const { ask } = await begin();
    const { status, rawHeaders, body, isRefusal } = await ask('/answer');
    expect({ status, body: await text(body), isRefusal }).toEqual({ status: 201, body: 'done', isRefusal: false });
    expect(rawHeaders).toEqual(expect.arrayContaining(['x-a', 'b']));
  });

  test('gets an error after the longest silence that it allows, and then its place is free again', async () => {
    const { ask } = await begin();
    await expect(ask('/wait', { silenceMs: 100 })).rejects.toThrow(Silence);
    await expect.poll(async () => (await ask('/answer')).status).toBe(201);
  });

  test('frees its place when its own client goes away', async () => {
    const { ask } = await begin();
    const gone = new AbortController();
    const waiting = expect(ask('/wait', { gone: gone.signal })).rejects.toThrow();
    await expect.poll(async () => (await ask('/answer')).status).toBe(429);
    gone.abort();
    await waiting;
    await expect.poll(async () => (await ask('/answer')).status).toBe(201);
  });
});

test('a client that goes away is seen by the application', async () => {
  const code = `request.once('error', () => console.log('gone')); request.resume();`;
  const { send, log, get } = await start(application(`if (request.url === '/') { ${code} } else response.end()`));
  await get('/warm');
  const sent = send({ method: 'POST' });
  sent.on('error', () => {});
  sent.write('first');
  await get('/there-and-back');
  sent.destroy();
  await expect.poll(() => log).toContain('gone');
});

test.each([
  ['another host', 404, { host: 'localhost' }],
  ['Expect: 100-continue', 417, { expect: '100-continue' }],
])('a request with %s is answered %i', async (_name, status, headers) => {
  const { send } = await start(application("response.end('ok')"));
  expect((await answerOf(send({ headers }).end())).status).toBe(status);
});

test.each([
  ['an endpoint that authenticates by IAM', {}, { AuthType: 'IamAuth' }, 'does not support IamAuth'],
  ['an endpoint without a revision', {}, { RevisionWeights: [] }, 'exactly one revision'],
  ['an unknown property', { Color: 'red' }, {}, 'does not implement Color'],
])('a Web Function with %s is an error', async (_name, service, endpoint, message) => {
  const deployment = await deploy(resources(service, endpoint), { code: { 'index.js': '' } });
  expect(() => readWebFunctions(deployment)).toThrow(message);
});
