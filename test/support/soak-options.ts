interface SoakOption {
  readonly value: string;
  /** What `npm run test:soak` does besides, if the variable has this value. */
  readonly adds: string;
  /** If it is known. */
  readonly takes?: string;
}

/** The variables that soak tests read, by name. This list alone says what a run leaves out (test/left-out.ts). */
export const SOAK_OPTIONS: Readonly<Record<string, SoakOption>> = {
  PLANTED: {
    value: 'yes',
    adds: 'the planted faults: 200 histories against each, and as many against none',
    takes: 'minutes for each',
  },
  ENGINE: {
    value: 'dynamodb-local',
    adds: 'the faults at every call and the random histories, on the second engine, which needs Java (or on `dynoxide`)',
    takes: 'ten minutes',
  },
  HISTORIES: {
    value: '2000',
    adds: '2,000 random histories instead of 100',
    takes: 'an hour of one processor',
  },
  FUZZ_MINUTES: {
    value: '60',
    adds: 'an hour of fuzzing instead of 2,000 mutations for each target',
    takes: 'an hour',
  },
};
