import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { readFunctions } from '../../../local-aws/lambda/function-config.ts';
import type { InvocationResult } from '../../../local-aws/lambda/invocation.ts';
import { createLambdaService, type LambdaService, readPermissions } from '../../../local-aws/lambda/lambda-service.ts';
import { deploy, lambdaFunction } from '../assembly-fixture.ts';

const services: LambdaService[] = [];
afterEach(async () => {
  await Promise.all(services.splice(0).map((service) => service.close()));
});

/** Lambda with one function of that code, called `F`. */
async function lambdaWith(code: string, properties = {}, extra = {}, file = 'index.js') {
  const deployment = await deploy({ F: lambdaFunction('code', properties), ...extra }, { code: { [file]: code } });
  const log: string[] = [];
  const service = createLambdaService({
    functions: readFunctions(deployment),
    mayInvoke: readPermissions(deployment),
    surroundings: { region: 'eu-west-1', awsEndpoint: 'http://127.0.0.1:1' },
    onLog: ({ line }) => log.push(line),
  });
  services.push(service);
  const { arn } = service.find('F');
  const send = (event: unknown, more = {}) =>
    service.invoke({ functionArn: arn, payload: JSON.stringify(event), ...more });
  return { service, arn, send, log };
}

const resultOf = ({ payload, functionError }: InvocationResult) => {
  expect(functionError).toBeUndefined();
  return JSON.parse(payload);
};
const errorOf = ({ payload, functionError }: InvocationResult) => {
  expect(functionError).toBe('Unhandled');
  return JSON.parse(payload);
};

describe('a function', () => {
  test('gets the event as JSON, and its result comes back as JSON', async () => {
    const { send } = await lambdaWith(
      'exports.handler = async (event) => ({ ...event, at: new Date(0), no: undefined })',
    );
    expect(resultOf(await send({ a: [1, 'ü'] }))).toEqual({ a: [1, 'ü'], at: '1970-01-01T00:00:00.000Z' });
  });

  test('a function that returns nothing has the result null', async () => {
    const { send } = await lambdaWith('exports.handler = async () => {}');
    expect(resultOf(await send({}))).toBeNull();
  });

  test.each([
    ['a CommonJS module', 'index.js', 'exports.handler = async () => "cjs"', 'cjs'],
    ['an ES module in a .mjs file', 'index.mjs', 'export const handler = async () => "esm"', 'esm'],
    ['an ES module in a .js file', 'index.js', 'export const handler = async () => "detected"', 'detected'],
    ['a minified CommonJS module', 'index.js', 'var m={};m.handler=async()=>"minified";module.exports=m', 'minified'],
  ])('may be %s', async (_name, file, code, expected) => {
    const { send } = await lambdaWith(code, {}, {}, file);
    expect(resultOf(await send({}))).toBe(expected);
  });

  describe('after its code was compiled by an earlier thread', () => {
    const code = 'const later = () => "first"; exports.handler = async () => later()';

    async function compiledOnce() {
      const { send, service, arn } = await lambdaWith(code);
      expect(resultOf(await send({}))).toBe('first');
      const { codeDirectory } = service.find('F');
      const compiled = join(codeDirectory, '../compiled/code-index.js');
      // The thread writes the compiled code after it has answered.
      await expect
        .poll(() =>
          stat(compiled).then(
            ({ size }) => size,
            () => 0,
          ),
        )
        .toBeGreaterThan(100);
      await service.killEnvironments(arn);
      return { send, source: join(codeDirectory, 'index.js'), compiled };
    }

    test('uses the compiled code', async () => {
      const { send, compiled } = await compiledOnce();
      const { ino } = await stat(compiled);
      expect(resultOf(await send({}))).toBe('first');
      // A thread that cannot use the compiled code writes it again, as another file of the same name.
      expect((await stat(compiled)).ino).toBe(ino);
    });

    test('runs its new code after the file changed, even if the new code has the same length', async () => {
      const { send, source } = await compiledOnce();
      await writeFile(source, code.replace('first', 'other'));
      expect(resultOf(await send({}))).toBe('other');
    });

    test.each([
      ['is cut off', (content: Buffer) => content.subarray(0, content.length / 2)],
      ['is empty', () => Buffer.alloc(0)],
      ['has a wrong byte', (content: Buffer) => content.with(content.length - 9, 0xff)],
    ])('compiles it again when the compiled file %s', async (_name, damage) => {
      const { send, compiled } = await compiledOnce();
      await writeFile(compiled, damage(await readFile(compiled)));
      const { ino } = await stat(compiled);
      expect(resultOf(await send({}))).toBe('first');
      await expect.poll(async () => (await stat(compiled)).ino).not.toBe(ino);
    });
  });

  test('has the environment variables of the template and of Lambda, and no others', async () => {
    process.env.LEAK = 'of the test';
    const variables = { Environment: { Variables: { TABLE: 'files', LIMIT: 5 } }, MemorySize: 256 };
    const { send, service } = await lambdaWith('exports.handler = async () => process.env', variables);
    const environment = resultOf(await send({}));
    const { name, credentials, codeDirectory } = service.find('F');
    expect(environment).toEqual({
      TABLE: 'files',
      LIMIT: '5',
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_SESSION_TOKEN: credentials.sessionToken,
      AWS_DEFAULT_REGION: 'eu-west-1',
      AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
      AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '256',
      AWS_LAMBDA_FUNCTION_NAME: name,
      AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
      AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
      AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${name}`,
      AWS_LAMBDA_LOG_STREAM_NAME: 'local',
      AWS_REGION: 'eu-west-1',
      LAMBDA_TASK_ROOT: codeDirectory,
      LANG: 'en_US.UTF-8',
      TZ: ':UTC',
      _HANDLER: 'index.handler',
      _X_AMZN_TRACE_ID: expect.stringMatching(/^Root=1-[0-9a-f]{8}-[0-9a-f]{24};Parent=[0-9a-f]{16};Sampled=0$/),
    });
    delete process.env.LEAK;
  });

  test('gets its request id, its trace, its name and its remaining time', async () => {
    const code = `exports.handler = async (event, context) =>
      [context.awsRequestId, process.env._X_AMZN_TRACE_ID, context.functionName, context.getRemainingTimeInMillis()]`;
    const { send, service } = await lambdaWith(code, { Timeout: 700 });
    const [requestId, traceId, name, remaining] = resultOf(await send({}, { requestId: 'r-1', traceId: 'Root=t-1' }));
    expect([requestId, traceId, name]).toEqual(['r-1', 'Root=t-1', service.find('F').name]);
    expect(remaining).toBeGreaterThan(100_000);
    expect(remaining).toBeLessThanOrEqual(700_000);
  });

  test('writes its output to the log, that of `console` after the time, the id of the request and the level', async () => {
    const { send, log } = await lambdaWith(
      'exports.handler = async () => { console.log("one\\ntwo"); console.error("three"); process.stdout.write("four\\n") }',
    );
    await send({}, { requestId: 'r-1' });
    const line = (text: string) => expect.stringMatching(new RegExp(`^\\d{4}-\\S+Z\\tr-1\\t${text}$`));
    const expected = [line('INFO\\tone'), 'two', line('ERROR\\tthree'), 'four'];
    await expect.poll(() => log).toEqual(expect.arrayContaining(expected));
  });
});

describe('an environment', () => {
  const COUNTING = 'let events = 0; exports.handler = async () => ++events';

  test('is reused', async () => {
    const { send } = await lambdaWith(COUNTING);
    expect(resultOf(await send({}))).toBe(1);
    expect(resultOf(await send({}))).toBe(2);
  });

  test('ends when it was idle for minutes, or for seconds if its function has another environment', async () => {
    const code = `let events = 0; exports.handler = async () => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return ++events;
    }`;
    const { send, service, log } = await lambdaWith(code);
    const sendTwo = async () => (await Promise.all([send({}), send({})])).map(resultOf).sort();
    const startedAt = performance.now();
    expect(await sendTwo()).toEqual([1, 1]);
    service.endIdleEnvironments(startedAt + 10_000);
    expect(await sendTwo()).toEqual([2, 2]);
    service.endIdleEnvironments(performance.now() + 20_000);
    expect(await sendTwo()).toEqual([1, 3]);
    service.endIdleEnvironments(performance.now() + 400_000);
    expect(await sendTwo()).toEqual([1, 1]);
    expect(log).toEqual([]);
  });

  test('never runs two events at the same time', async () => {
    const code = `let running = 0; exports.handler = async () => {
      running += 1;
      await new Promise((resolve) => setImmediate(resolve));
      return running--;
    }`;
    const { send } = await lambdaWith(code);
    const results = await Promise.all(Array.from({ length: 30 }, () => send({})));
    expect(results.map(resultOf)).toEqual(Array(30).fill(1));
  });

  test('runs beside others: two events that wait for each other both end', async () => {
    const code = `exports.handler = () => new Promise((resolve) => {
      const channel = new BroadcastChannel('meeting');
      channel.onmessage = ({ data }) => {
        if (data === 'hello') channel.postMessage('welcome');
        resolve('met');
      };
      channel.postMessage('hello');
    })`;
    const { send } = await lambdaWith(code, { Timeout: 30 });
    const results = await Promise.all([send({}), send({})]);
    expect(results.map(resultOf)).toEqual(['met', 'met']);
  });

  test('is frozen between two events: what an event left under way continues with the next one', async () => {
    const code = `const seen = []; exports.handler = async ({ name }) => {
      seen.push(name);
      if (name === 'first') setTimeout(() => seen.push('left behind'), 20);
      if (name === 'third') await new Promise((resolve) => setTimeout(resolve, 100));
      return seen.slice(0);
    }`;
    const { send } = await lambdaWith(code, { Timeout: 30 });
    expect(resultOf(await send({ name: 'first' }))).toEqual(['first']);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(resultOf(await send({ name: 'second' }))).toEqual(['first', 'second']);
    expect(resultOf(await send({ name: 'third' })).sort()).toEqual(['first', 'left behind', 'second', 'third']);
  });

  test('can be killed while it is frozen', async () => {
    const { send, service, arn } = await lambdaWith(COUNTING);
    expect(resultOf(await send({}))).toBe(1);
    await service.killEnvironments(arn);
    expect(resultOf(await send({}))).toBe(1);
  });

  test('shares nothing with another function', async () => {
    const resources = {
      A: lambdaFunction('code', { Environment: { Variables: { NAME: 'a' } } }),
      B: lambdaFunction('code', { Environment: { Variables: { NAME: 'b' } } }),
    };
    const code = 'globalThis.seen ??= []; exports.handler = async () => { seen.push(process.env.NAME); return seen }';
    const deployment = await deploy(resources, { code: { 'index.js': code } });
    const service = createLambdaService({
      functions: readFunctions(deployment),
      mayInvoke: () => true,
      surroundings: { region: 'eu-west-1', awsEndpoint: '' },
      onLog: () => {},
    });
    services.push(service);
    const run = (label: string) => service.invoke({ functionArn: service.find(label).arn, payload: '{}' });
    expect([resultOf(await run('A')), resultOf(await run('B'))]).toEqual([['a'], ['b']]);
  });
});

describe('a function that fails', () => {
  const FAILS = `exports.handler = async ({ how }) => {
    if (how === 'throw') throw Object.assign(new TypeError('wrong'), {});
    if (how === 'throw text') throw 'wrong';
    if (how === 'exit') process.exit(3);
    if (how === 'uncaught') { setImmediate(() => { throw new RangeError('later') }); await new Promise(() => {}) }
    if (how === 'rejected') { Promise.reject(new RangeError('nobody')); await new Promise(() => {}) }
    if (how === 'hang') await new Promise(() => {});
    if (how === 'spin') for (;;);
    if (how === 'memory') { const all = []; for (;;) all.push(Array(100_000).fill(Math.random())) }
    if (how === 'too much') return 'x'.repeat(6 * 1024 * 1024 + 99);
    if (how === 'unserializable') return 1n;
    return 'fine';
  }`;

  test.each([
    ['throws an error', 'throw', { errorType: 'TypeError', errorMessage: 'wrong' }],
    ['throws a text', 'throw text', { errorType: 'string', errorMessage: 'wrong' }],
    [
      'ends its process',
      'exit',
      { errorType: 'Runtime.ExitError', errorMessage: 'Error: Runtime exited with error: exit status 3' },
    ],
    ['leaves an exception uncaught', 'uncaught', { errorType: 'RangeError', errorMessage: 'later' }],
    ['leaves a rejection unhandled', 'rejected', { errorType: 'RangeError', errorMessage: 'nobody' }],
    ['returns more than 6 MiB', 'too much', { errorType: 'Function.ResponseSizeTooLarge' }],
    ['returns a value that is not JSON', 'unserializable', { errorType: 'TypeError' }],
  ])('a function that %s has an error as its result, and its next event runs', async (_name, how, expected) => {
    const { send, log } = await lambdaWith(FAILS);
    expect(errorOf(await send({ how }))).toMatchObject(expected);
    expect(log.join()).toContain(expected.errorType);
    // Not the text of the worker, which would be in each line of the stack.
    expect(log.join()).not.toContain('data:');
    expect(resultOf(await send({}))).toBe('fine');
  });

  test.each([
    ['waits for ever', 'hang'],
    ['loops for ever', 'spin'],
  ])('a function that %s is ended at its timeout', async (_name, how) => {
    const { send, service } = await lambdaWith(FAILS, { Timeout: 1 });
    const error = errorOf(await send({ how }, { requestId: 'r-1' }));
    Object.assign(service.find('F'), { timeoutSeconds: 30 });
    expect(error).toEqual({
      errorType: 'Sandbox.Timedout',
      errorMessage: 'RequestId: r-1 Error: Task timed out after 1.00 seconds',
    });
    expect(resultOf(await send({}))).toBe('fine');
  });

  test('a function that uses too much memory is ended', async () => {
    const { send } = await lambdaWith(FAILS, { MemorySize: 32, Timeout: 30 });
    expect(errorOf(await send({ how: 'memory' })).errorType).toBe('Runtime.OutOfMemory');
    expect(resultOf(await send({}))).toBe('fine');
  });

  test('the result of an event whose environment was killed is an error that says so', async () => {
    const { send, service, arn } = await lambdaWith(FAILS);
    await send({});
    const hanging = send({ how: 'hang' });
    await service.killEnvironments(arn);
    expect(errorOf(await hanging).errorMessage).toContain('signal: killed');
    expect(resultOf(await send({}))).toBe('fine');
  });

  test.each([
    [
      'exports no handler',
      '',
      'index.handler',
      'Runtime.HandlerNotFound',
      'index.handler is undefined or not exported',
    ],
    [
      'names a module that does not exist',
      '',
      'other.handler',
      'Runtime.ImportModuleError',
      "Cannot find module 'other'",
    ],
    ['throws while it is loaded', 'throw new RangeError("at load")', 'index.handler', 'RangeError', 'at load'],
    ['ends its process while it is loaded', 'process.exit(1)', 'index.handler', 'Runtime.ExitError', 'exit status 1'],
  ])('a function that %s fails at every event', async (_name, code, Handler, errorType, message) => {
    const { send } = await lambdaWith(code, { Handler });
    for (const event of [1, 2]) {
      const error = errorOf(await send(event));
      expect(error.errorType).toBe(errorType);
      expect(error.errorMessage).toContain(message);
    }
  });
});

describe('Lambda refuses', () => {
  const ECHO = 'exports.handler = async (event) => event.length';

  test('an event of more than 6 MiB', async () => {
    const { send } = await lambdaWith(ECHO);
    const longest = 'x'.repeat(6 * 1024 * 1024 - 2);
    expect(resultOf(await send(longest))).toBe(longest.length);
    await expect(send(`${longest}x`)).rejects.toMatchObject({ code: 'RequestTooLarge' });
  });

  test('an unknown function', async () => {
    const { service } = await lambdaWith(ECHO);
    await expect(service.invoke({ functionArn: 'arn:none', payload: '{}' })).rejects.toMatchObject({
      code: 'ResourceNotFound',
    });
  });

  test('more events at once than the reserved concurrency', async () => {
    const code = 'exports.handler = () => new Promise(() => {})';
    const { send, service, arn } = await lambdaWith(code, { ReservedConcurrentExecutions: 1 });
    const first = send({});
    await expect(send({})).rejects.toMatchObject({ code: 'TooManyRequests' });
    await service.killEnvironments(arn);
    errorOf(await first);
  });

  test.each([
    ['without a permission', {}],
    [
      'with a permission for another function',
      { FunctionName: 'arn:aws:lambda:eu-west-1:111122223333:function:other' },
    ],
    ['with a permission for another service', { Principal: 'events.amazonaws.com' }],
    ['with a permission for another resource', { SourceArn: 'arn:aws:execute-api:eu-west-1:111122223333:other/*/*/*' }],
  ])('a service %s', async (name, difference) => {
    const Properties = {
      Action: 'lambda:InvokeFunction',
      FunctionName: { 'Fn::GetAtt': ['F', 'Arn'] },
      Principal: 'apigateway.amazonaws.com',
      SourceArn: 'arn:aws:execute-api:eu-west-1:111122223333:api/*/*/*',
      ...difference,
    };
    const invoker = {
      principal: 'apigateway.amazonaws.com',
      sourceArn: 'arn:aws:execute-api:eu-west-1:111122223333:api/live/GET/files',
    };
    const wrong = name === 'without a permission' ? {} : { P: { Type: 'AWS::Lambda::Permission', Properties } };
    await expect((await lambdaWith(ECHO, {}, wrong)).send('abc', { invoker })).rejects.toMatchObject({
      code: 'AccessDenied',
    });
    const right = { P: { Type: 'AWS::Lambda::Permission', Properties: { ...Properties, ...ALLOWED } } };
    expect(resultOf(await (await lambdaWith(ECHO, {}, right)).send('abc', { invoker }))).toBe(3);
  });
});

const ALLOWED = {
  FunctionName: { 'Fn::GetAtt': ['F', 'Arn'] },
  Principal: 'apigateway.amazonaws.com',
  SourceArn: 'arn:aws:execute-api:eu-west-1:111122223333:api/*/*/*',
};

test('readFunctions leaves out functions that only CloudFormation calls', async () => {
  const deployment = await deploy(
    {
      F: lambdaFunction('code'),
      Helper: lambdaFunction('code', { Runtime: 'python3.13' }),
      Bucket: {
        Type: 'Custom::S3AutoDeleteObjects',
        Properties: { ServiceToken: { 'Fn::GetAtt': ['Helper', 'Arn'] } },
      },
    },
    { code: { 'index.js': '' } },
  );
  expect(readFunctions(deployment).map(({ label }) => label)).toEqual(['F']);
});

test.each([
  ['a runtime other than Node', { Runtime: 'python3.13' }, 'the local AWS does not support python3.13'],
  ['layers', { Layers: ['arn'] }, 'does not implement Layers'],
])('a function with %s is an error', async (_name, properties, message) => {
  const deployment = await deploy({ F: lambdaFunction('code', properties) }, { code: { 'index.js': '' } });
  expect(() => readFunctions(deployment)).toThrow(message);
});
