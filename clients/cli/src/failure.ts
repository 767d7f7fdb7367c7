import { type ErrorCode, FileHostingError } from '../../typescript/src/index.ts';
import { painted, printable } from './terminal.ts';

/** Why a command fails, and what the person can do about it. */
export class Failure extends Error {
  readonly advice: string;
  /** 2 when the command line is wrong. */
  readonly exitCode: 1 | 2;

  constructor(message: string, advice: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.advice = advice;
    this.exitCode = exitCode;
  }
}

/** Ends the command with an exit code, without a further message. */
export class Exit extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`exit code ${exitCode}`);
    this.exitCode = exitCode;
  }
}

/** Advice about errors of the client that is more specific than the client's own. */
const ADVICE: Partial<Record<ErrorCode, string>> = {
  unauthorized: process.env.FILE_HOSTING_KEY?.trim()
    ? 'The key is from the variable FILE_HOSTING_KEY. Create another in the dashboard, and set the variable to it.'
    : 'Create an API key in the dashboard, then run: file-hosting login',
  storage_limit_exceeded: 'Delete files that are not needed any more: file-hosting list, then file-hosting rm <id>.',
  not_found: 'Look for it: file-hosting list --all --search <part of the name>',
  network_error: 'Check the connection, and the address of the service in FILE_HOSTING_URL or of file-hosting login.',
  invalid_response:
    'Check the address of the service in FILE_HOSTING_URL or of file-hosting login, and any proxy before it.',
  invalid_argument: 'Check FILE_HOSTING_URL and FILE_HOSTING_KEY, or run: file-hosting login',
};

/** Advice about a connection that will fail again. */
const LASTING_ADVICE =
  'Check the address of the service in FILE_HOSTING_URL or of file-hosting login, and the proxy in HTTPS_PROXY. NODE_EXTRA_CA_CERTS names the file of a further certificate authority.';

/** Prints on standard error why something failed. @param what  the file or path, if there are several. */
export function printFailure(error: unknown, what?: string): void {
  const { message, advice, id } = described(error);
  const about = what === undefined ? '' : `${printable(what)}: `;
  process.stderr.write(`${painted('red', 'error:')} ${about}${printable(message)}\n`);
  if (advice) process.stderr.write(`  ${printable(advice)}\n`);
  if (id) process.stderr.write(`  The id of the request, for the operator of the service: ${printable(id)}\n`);
}

function described(error: unknown): { message: string; advice?: string; id?: string | undefined } {
  if (error instanceof FileHostingError) {
    const isOfService = (error.status ?? 0) >= 500;
    const isLasting = error.code === 'network_error' && !error.isTemporary;
    return {
      message: error.message,
      advice: isLasting ? LASTING_ADVICE : (ADVICE[error.code] ?? error.advice),
      id: isOfService ? error.requestId : undefined,
    };
  }
  if (error instanceof Failure) return error;
  return { message: error instanceof Error ? error.message : String(error) };
}
