/** The reasons why the front refuses a request. Each service words them in its own way. */
export type ProblemKind =
  | 'access-denied'
  | 'expired-url'
  | 'incomplete-signature'
  | 'internal-error'
  | 'invalid-token'
  | 'malformed-query-signature'
  | 'missing-signature'
  | 'payload-hash-missing'
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

  /** @param detail  what the answer adds to the usual words of the service. */
  constructor(kind: ProblemKind, detail?: string) {
    super(detail ?? '');
    this.name = 'Problem';
    this.kind = kind;
  }
}
