/** One call of a concurrent history. */
export interface Call<Input, Output> {
  readonly input: Input;
  /** Undefined when the outcome is unknown. Then the call may take effect at any time after it began, or never. */
  readonly output: Output | undefined;
  /** Numbers in the order of events; no two are equal. A call without a known outcome never ends. */
  readonly begunAt: number;
  readonly endedAt: number;
}

/** What an object does when it does one thing after the other. A state is plain data. */
export interface Sequential<State, Input, Output> {
  readonly initial: State;
  /**
   * @param output  undefined when the outcome is unknown.
   * @returns the state after the call; undefined when the object cannot give this output in this state.
   */
  next(state: State, input: Input, output: Output | undefined): State | undefined;
}

/**
 * Decides whether a concurrent history is linearizable: whether each call can be given one moment between its begin and its end, so that
 * the object, doing one call after the other at these moments, gives the same outputs. This is the search of Wing and Gong ("Testing and
 * verifying concurrent objects", 1993), which does not visit a pair of done calls and state twice (Lowe, "Testing for linearizability", 2017).
 */
export function isLinearizable<State, Input, Output>(
  calls: readonly Call<Input, Output>[],
  object: Sequential<State, Input, Output>,
): boolean {
  const visited = new Set<string>();
  const search = (left: readonly Call<Input, Output>[], state: State): boolean => {
    if (left.every(({ output }) => output === undefined)) return true;
    const visit = JSON.stringify([left.map(({ begunAt }) => begunAt), state]);
    if (visited.has(visit)) return false;
    visited.add(visit);
    // A call that began after another one had ended cannot come before it.
    const firstEnd = Math.min(...left.map(({ endedAt }) => endedAt));
    return left.some((call) => {
      if (call.begunAt > firstEnd) return false;
      const after = object.next(state, call.input, call.output);
      return (
        after !== undefined &&
        search(
          left.filter((other) => other !== call),
          after,
        )
      );
    });
  };
  return search(calls, object.initial);
}

/** Records the calls that several clients make at the same time. */
export function recorder<Input, Output>() {
  const calls: Call<Input, Output>[] = [];
  let time = 0;
  return {
    calls,
    /** @param perform  makes the call. Its result is undefined when the outcome is unknown. */
    async call(input: Input, perform: () => Promise<Output | undefined>): Promise<void> {
      const begunAt = time++;
      const output = await perform();
      calls.push({ input, output, begunAt, endedAt: output === undefined ? Number.POSITIVE_INFINITY : time++ });
    },
  };
}
