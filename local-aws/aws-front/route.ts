import type { Message } from './message.ts';
import { Problem } from './problem.ts';
import type { Protocol } from './protocol.ts';
import { renderJsonError } from './services/json-error.ts';
import { readAuthorization } from './signature/authorization.ts';

/** Finds the service a request is for: that of its credential's scope, since all services share one address. */
export function createRouter(
  s3: Protocol,
  jsonServices: ReadonlyMap<string, Protocol>,
): (message: Message) => Protocol {
  return (message) => {
    const name = signedFor(message) ?? targetOf(message) ?? 's3';
    return name === 's3' ? s3 : (jsonServices.get(name) ?? unknownService(name));
  };
}

/** Absent as well when the signature is malformed: whatever service gets it then, says so. */
function signedFor(message: Message): string | undefined {
  try {
    return readAuthorization(message)?.scope.service;
  } catch {
    return undefined;
  }
}

/** Only S3 takes requests without this header, so an unsigned request that has it is meant for another one. */
const targetOf = ({ headers }: Message) => (headers['x-amz-target'] === undefined ? undefined : 'dynamodb');

function unknownService(name: string): Protocol {
  return {
    clockSkewSeconds: 0,
    open: async () => {
      throw new Problem('unknown-operation', `the local AWS has no service ${name}`);
    },
    renderError: renderJsonError,
  };
}
