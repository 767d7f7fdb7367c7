import { join } from 'node:path';
import { DiskFull } from '../host/disk.ts';
import { LogGroups } from '../logs/log-groups.ts';
import type { CorsRule } from '../s3/cors.ts';
import type { ObjectCreated } from '../s3/s3-request.ts';
import { openS3Server } from '../s3/s3-server.ts';
import { answer } from './answer.ts';
import { readAuthorization } from './authorization.ts';
import { callerIdentityProtocol } from './caller-identity.ts';
import { connectDynamoDb } from './dynamodb-engine.ts';
import { createDynamoDbService } from './dynamodb-service.ts';
import { createFaults, type Faults } from './faults.ts';
import { createGate, type Grant, unusedGrants } from './gate.ts';
import { jsonProtocol, renderJsonError } from './json-protocol.ts';
import { createLogsService } from './logs-service.ts';
import type { Message } from './message.ts';
import { createMeter, type Meter, type MeteredCall } from './meter.ts';
import type { PolicyDocument } from './policy-document.ts';
import { createPolicyEvaluator } from './policy-evaluator.ts';
import { type Account, createPrincipals, type Principal } from './principals.ts';
import { Problem } from './problem.ts';
import type { Protocol } from './protocol.ts';
import { s3Protocol } from './s3-protocol.ts';
import { createParameterService, createSecretsManagerService, type Secrets } from './secrets-and-parameters.ts';
import { serveMessages } from './serve-messages.ts';

export interface BucketOptions {
  readonly name: string;
  readonly policy?: PolicyDocument;
  readonly cors?: readonly CorsRule[];
}

export interface AwsFrontOptions extends Account {
  /** By default, the front takes a free port. */
  readonly port?: number;
  /** The objects are stored in its folder `s3`. */
  readonly dataDir: string;
  readonly principals?: readonly Principal[];
  readonly buckets: readonly BucketOptions[];
  readonly dynamoDbEndpoint: string;
  /** The values of Secrets Manager, by name. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** The log groups of CloudWatch Logs; by default there are none. */
  readonly logGroups?: LogGroups;
  /** The values of SSM parameters, by name. */
  readonly parameters?: Record<string, string>;
  readonly onObjectCreated?: (event: ObjectCreated) => void;
  /** Called for every permission that a call lacked. */
  readonly onDenied?: (denied: Grant) => void;
  /** Called with every call once it is answered. */
  readonly onCall?: (call: MeteredCall) => void;
}

export interface AwsFront {
  /** The value for `AWS_ENDPOINT_URL`: `http://127.0.0.1:<port>`. */
  readonly endpoint: string;
  readonly meter: Meter;
  readonly faults: Faults;
  readonly secrets: Secrets;
  /** The values of SSM parameters, by name. A test may change them. */
  readonly parameters: Record<string, string>;
  /** @throws Error for a policy that the front cannot evaluate, or an access key that is taken. */
  addPrincipal(principal: Principal): void;
  /** Adds a policy, as `aws iam put-role-policy` does. @throws Error for an unknown role, or a policy that the front cannot evaluate. */
  addPolicy(role: string, policy: PolicyDocument): void;
  /** Every permission used so far, without repetitions. */
  grantsUsed(): Grant[];
  /** Every permission that the policies of the principals give and that was not used. */
  grantsUnused(): Grant[];
  close(): Promise<void>;
}

/**
 * Starts S3, DynamoDB, Secrets Manager, SSM, CloudWatch Logs and STS on one address, as far as the product uses them. The front
 * authenticates each call, and checks that the policies of the caller and of the bucket allow the call. It meters the cost of the call, and
 * applies the faults that tests ask for.
 */
export async function startAwsFront(options: AwsFrontOptions): Promise<AwsFront> {
  const { region, accountId, buckets, onObjectCreated } = options;
  const account = { region, accountId };
  const policies = buckets.flatMap(({ name, policy }) => (policy ? [[name, policy] as const] : []));
  const gate = createGate(account, createPolicyEvaluator(account, new Map(policies)), options.onDenied);
  const principals = createPrincipals(options.principals ?? []);
  const engine = connectDynamoDb(options.dynamoDbEndpoint);
  const { parameters = {} } = options;
  const { service: secretsManager, secrets } = createSecretsManagerService(options.secrets ?? {}, account);

  let isClosing = false;
  const onUnexpected = (error: unknown) => {
    // A caller sees only a 500. When the front closes, the calls that it cuts off fail, which is no error.
    if (!isClosing) console.error(error instanceof DiskFull ? error.message : error);
  };
  const corsRules = new Map(buckets.map(({ name, cors = [] }) => [name, cors]));
  const jsonServices = [
    createDynamoDbService(engine, account),
    secretsManager,
    createParameterService(parameters, account),
    createLogsService(options.logGroups ?? new LogGroups([]), account),
  ];
  const server = await openS3Server({
    directory: join(options.dataDir, 's3'),
    buckets: buckets.map(({ name }) => name),
    ...(onObjectCreated && { onObjectCreated }),
  });
  const protocolOf = createRouter(
    s3Protocol({ server, gate, corsRules, onUnexpected }),
    new Map([
      ['sts', callerIdentityProtocol(account, onUnexpected)],
      ...jsonServices.map((service) => [service.name, jsonProtocol(service, onUnexpected)] as const),
    ]),
  );
  const [meter, faults] = [createMeter(), createFaults()];
  const parts = { account, principals: principals.byKey, gate, meter, faults, onCall: options.onCall ?? (() => {}) };
  const listening = await serveMessages(options.port ?? 0, (message) => answer(parts, protocolOf(message), message));
  return {
    endpoint: `http://127.0.0.1:${listening.port}`,
    meter,
    faults,
    secrets,
    parameters,
    addPrincipal: principals.add,
    addPolicy: principals.addPolicy,
    grantsUsed: gate.grantsUsed,
    grantsUnused: () => unusedGrants(principals.byKey.values(), gate.grantsUsed()),
    async close() {
      isClosing = true;
      await listening.close();
      engine.close();
    },
  };
}

/** Finds the service of a request by the scope of its credential, since all services share one address. */
function createRouter(s3: Protocol, others: ReadonlyMap<string, Protocol>): (message: Message) => Protocol {
  return (message) => {
    const name = signedFor(message) ?? targetOf(message) ?? 's3';
    return name === 's3' ? s3 : (others.get(name) ?? unknownService(name));
  };
}

/**
 * The service that a request was signed for; undefined when there is no signature. It is also undefined when the signature is
 * malformed; then the service that gets the request refuses it.
 */
function signedFor(message: Message): string | undefined {
  try {
    return readAuthorization(message)?.scope.service;
  } catch {
    return undefined;
  }
}

/**
 * The service that words the refusal of a request without a readable signature. No request to S3 has `X-Amz-Target`: only the services with
 * JSON requests, which all word it alike. Requests to STS are forms.
 */
function targetOf({ headers }: Message): string | undefined {
  if (headers['x-amz-target'] !== undefined) return 'dynamodb';
  return headers['content-type']?.startsWith('application/x-www-form-urlencoded') ? 'sts' : undefined;
}

function unknownService(name: string): Protocol {
  return {
    clockSkewSeconds: 0,
    open: async () => {
      throw new Problem('unknown-operation', `the local AWS has no service ${name}`);
    },
    renderError: renderJsonError,
  };
}
