import { randomUUID } from 'node:crypto';
import type { Message, Reply } from './message.ts';
import { type Account, callerArn } from './principals.ts';
import { Problem } from './problem.ts';
import type { Protocol } from './protocol.ts';
import { sha256Hex } from './signature.ts';

/** The operation `GetCallerIdentity` of STS, which needs no permission. Requests to STS are forms, and its answers are XML. */
export function callerIdentityProtocol(account: Account): Protocol {
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
            throw new Problem('unknown-operation', `the local STS has no operation ${operation}`);
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
      const { kind, message } = error instanceof Problem ? error : new Problem('internal-error');
      return xmlReply(
        kind === 'internal-error' ? 500 : 400,
        `<ErrorResponse><Error><Type>Sender</Type><Code>${kind}</Code><Message>${message}</Message></Error></ErrorResponse>`,
      );
    },
  };
}

function identityReply(arn: string, { accountId }: Account): Reply {
  const result = `<Arn>${arn}</Arn><UserId>${arn.split('/').at(-1)}</UserId><Account>${accountId}</Account>`;
  return xmlReply(
    200,
    `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>${result}</GetCallerIdentityResult><ResponseMetadata><RequestId>${randomUUID()}</RequestId></ResponseMetadata></GetCallerIdentityResponse>`,
  );
}

const xmlReply = (status: number, body: string): Reply => ({ status, headers: { 'content-type': 'text/xml' }, body });

async function readForm({ body }: Message): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}
