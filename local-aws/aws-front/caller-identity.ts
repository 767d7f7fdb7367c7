import { randomUUID } from 'node:crypto';
import { renderXml } from '../s3/xml.ts';
import type { Message, Reply } from './message.ts';
import { type Account, callerArn } from './principals.ts';
import { Problem, type ProblemKind } from './problem.ts';
import type { Protocol } from './protocol.ts';
import { sha256Hex } from './signature.ts';

/** The operation `GetCallerIdentity` of STS, which needs no permission. Requests to STS are forms, and its answers are XML. */
export function callerIdentityProtocol(account: Account, onUnexpected: (error: unknown) => void): Protocol {
  return {
    clockSkewSeconds: 5 * 60,
    async open(message) {
      const body = await readForm(message);
      return {
        payloadHash: () => sha256Hex(body),
        interpret({ caller, signed }) {
          if (!signed) throw new Problem('missing-signature');
          const operation = new URLSearchParams(body.toString()).get('Action') ?? '';
          if (operation !== 'GetCallerIdentity') {
            throw new Problem('unknown-operation', `Could not find operation ${operation} for version 2011-06-15`);
          }
          return {
            service: 'sts',
            operation,
            tables: [],
            permissions: [],
            perform: async () => identityReply(callerArn(caller, account), account),
            throttled: () => new Problem('throttled'),
          };
        },
      };
    },
    renderError(error) {
      if (!(error instanceof Problem)) onUnexpected(error);
      const { kind, message: detail } = error instanceof Problem ? error : new Problem('internal-error');
      const [status, Code, words] = PROBLEMS[kind];
      const Message = kind === 'unknown-operation' ? detail : words;
      const Type = status < 500 ? 'Sender' : 'Receiver';
      const answer = { Error: { Type, Code, Message }, RequestId: randomUUID() };
      return xmlReply(status, renderXml('ErrorResponse', answer, { namespace: NAMESPACE }));
    },
  };
}

const NAMESPACE = 'https://sts.amazonaws.com/doc/2011-06-15/';

const NO_MATCH = [403, 'SignatureDoesNotMatch'] as const;
const INCOMPLETE = [400, 'IncompleteSignature', 'The signature is incomplete or malformed.'] as const;
const UNKNOWN_TOKEN = [403, 'InvalidClientTokenId', 'The security token included in the request is invalid'] as const;

/**
 * The errors by which STS words the problems that the front finds.
 * Source: STS API, "Common Errors"; answers of AWS in aws-azure-login #251 (token), terraform-provider-aws #35860 (scope) and #26202
 * (incomplete), aws-cli #6676 (time), aws-sdk-java #2317 (no signature), selling-partner-api #278 (throttling).
 */
const PROBLEMS: Record<ProblemKind, readonly [status: number, code: string, message: string]> = {
  'access-denied': [403, 'AccessDenied', 'Access denied.'],
  'expired-url': [...NO_MATCH, 'Signature expired.'],
  'incomplete-signature': INCOMPLETE,
  'internal-error': [500, 'InternalFailure', 'The request failed because of an internal error.'],
  'invalid-token': UNKNOWN_TOKEN,
  'malformed-query-signature': INCOMPLETE,
  'missing-signature': [403, 'MissingAuthenticationToken', 'Request is missing Authentication Token'],
  'payload-hash-missing': [...NO_MATCH, 'The hash of the payload is invalid.'],
  'signature-mismatch': [
    ...NO_MATCH,
    'The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method.',
  ],
  throttled: [400, 'Throttling', 'Rate exceeded'],
  'time-skewed': [...NO_MATCH, 'Signature expired.'],
  'two-signatures': INCOMPLETE,
  'unknown-access-key': UNKNOWN_TOKEN,
  'unknown-operation': [400, 'InvalidAction', 'Could not find the operation.'],
  'unsigned-header': [...NO_MATCH, 'A header that must be signed is not.'],
  'unsupported-signature': INCOMPLETE,
  'wrong-scope': [...NO_MATCH, 'Credential should be scoped to a valid region.'],
};

function identityReply(arn: string, { accountId }: Account): Reply {
  const answer = {
    GetCallerIdentityResult: { Arn: arn, UserId: arn.split('/').at(-1), Account: accountId },
    ResponseMetadata: { RequestId: randomUUID() },
  };
  return xmlReply(200, renderXml('GetCallerIdentityResponse', answer, { namespace: NAMESPACE }));
}

const xmlReply = (status: number, body: string): Reply => ({ status, headers: { 'content-type': 'text/xml' }, body });

async function readForm({ body }: Message): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}
