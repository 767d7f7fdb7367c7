/** Why a request is refused before its service sees it; each service has its own words for these. */
export type ProblemKind =
  | 'access-denied'
  | 'expired-token'
  | 'expired-url'
  | 'incomplete-signature'
  | 'internal-error'
  | 'invalid-token'
  | 'malformed-query-signature'
  | 'missing-signature'
  | 'payload-hash-missing'
  | 'payload-mismatch'
  | 'signature-mismatch'
  | 'throttled'
  | 'time-skewed'
  | 'two-signatures'
  | 'unknown-access-key'
  | 'unknown-operation'
  | 'unsigned-header'
  | 'unsupported-signature'
  | 'wrong-scope';

export class Problem extends Error {
  readonly kind: ProblemKind;

  /** @param detail  what to say besides the service's usual words. */
  constructor(kind: ProblemKind, detail?: string) {
    super(detail ?? '');
    this.name = 'Problem';
    this.kind = kind;
  }
}
