/** A place in the source and what is put there instead. */
export interface Edit {
  /** From the project's root. */
  readonly file: string;
  /** Occurs there once. */
  readonly find: string;
  readonly replace: string;
}

/** A change of the source that reverses a decision of the contract, and that tests must notice. */
export interface Flip extends Edit {
  /** Of docs/contract/rows.ts. */
  readonly row: string;
  /** What the service does then. */
  readonly reversal: string;
  /** Another file's part in it, where the service would not even run with the one edit alone. */
  readonly also?: Edit;
  /** Tests of a piece, where the door cannot see the decision (another clock, another stage); else those of the row. */
  readonly seenBy?: string;
}
