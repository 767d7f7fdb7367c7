import { ApiError, isUnavailable } from '../shared/errors.ts';
import { Refusal, UsageError } from './commands/command.ts';

/** What went wrong, in one sentence for the operator. */
export function sentenceFor(error: unknown, { isLocal }: { isLocal: boolean }): string {
  if (error instanceof Refusal || error instanceof UsageError) return error.message;
  if (error instanceof ApiError && error.code === 'not_found') return 'It is gone: somebody deleted it meanwhile.';
  const causes = causesOf(error);
  if (isLocal && causes.some(({ code }) => code === 'ECONNREFUSED')) {
    return 'The service is not running: start it with "npm start".';
  }
  const [{ name, message }] = causes.toReversed() as [Cause];
  if (name === 'CredentialsProviderError') {
    return `There are no AWS credentials (${firstLine(message)}): log in with the AWS CLI, or set AWS_PROFILE.`;
  }
  if (message === 'Region is missing') return 'There is no AWS region: set AWS_REGION, or a profile that has one.';
  if (isUnavailable(error)) {
    return `AWS cannot be reached, or is too busy (${name}: ${firstLine(message)}): try again.`;
  }
  return `It failed: ${name}: ${firstLine(message)}`;
}

type Cause = Error & { readonly code?: string };

/** The error, then what caused it, and so on. */
function causesOf(error: unknown): Cause[] {
  if (!(error instanceof Error)) return [new Error(String(error))];
  return error.cause === undefined ? [error] : [error, ...causesOf(error.cause)];
}

const firstLine = (text: string) => text.split('\n', 1)[0];
