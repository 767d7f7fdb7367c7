import { FileHostingError } from './error.ts';

/** The errors that come again whenever the request is repeated: of TLS, of a host or port that does not exist, and of a proxy that refuses. */
const LASTING = /CERT|UNABLE_TO_|^ERR_TLS|^ERR_SSL(?!.*MAC$)|EPROTO|ENOTFOUND|PROXY_REFUSED|^bad port/;

/** @param isKnown  true when the host has answered before, so its name is not wrong. */
export function connectionError(cause: Error & { readonly code?: string }, isKnown = false): FileHostingError {
  if (cause instanceof FileHostingError) return cause;
  const reason = (cause.cause ?? cause) as Error & { readonly code?: string };
  // Node reports a redirect in the cause of the error, Deno in the error itself, Bun in its code.
  if (/redirect/i.test(`${cause.code} ${reason}`)) return new FileHostingError('invalid_response', { cause });
  const { code, message } = reason;
  const isOfHost = code === 'ENOTFOUND';
  return new FileHostingError('network_error', {
    cause,
    what: reason === cause && !code ? undefined : `The connection failed: ${message || code}`,
    isFinal: LASTING.test(code ?? message) && !(isOfHost && isKnown),
  });
}
