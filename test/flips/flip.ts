/** A change of the source that reverses a decision of the contract, and that tests must notice. */
export interface Flip {
  /** Of docs/contract/rows.ts. */
  readonly row: string;
  /** What the service does then. */
  readonly reversal: string;
  /** From the project's root. */
  readonly file: string;
  /** Occurs there once. */
  readonly find: string;
  readonly replace: string;
  /** Tests of a piece, where the door cannot see the decision (another clock, another stage); else those of the row. */
  readonly seenBy?: string;
}
