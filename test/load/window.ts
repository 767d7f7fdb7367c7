import type { Exchange } from '../support/traffic.ts';

const WINDOW_MS = 60_000;
/** The limiter rounds times to 10 ms and allows for clocks that are 20 ms apart (shared/rate-limit/window.ts): it may count a request so long. */
const COUNTED_MS = WINDOW_MS + 30;

/**
 * Compares the answers to one account with the limit of its requests in any 60 seconds. The client knows only that a request was decided
 * between its sending and its answer, so it reports what was wrong whenever in between the decision was made.
 */
export function departuresFromLimit(exchanges: readonly Exchange[], limit: number): string[] {
  const admitted = exchanges.filter(({ status }) => status !== 429);
  const tooMany = admitted.flatMap(({ sentAt }) => {
    const within = admitted.filter((other) => other.sentAt >= sentAt && other.answeredAt < sentAt + WINDOW_MS).length;
    return within > limit ? [`${within} were admitted within 60 s, and the limit is ${limit}`] : [];
  });
  const tooFew = exchanges.flatMap(({ status, sentAt, answeredAt }) => {
    if (status !== 429) return [];
    const before = admitted.filter(
      (other) => other.sentAt < answeredAt && other.answeredAt > sentAt - COUNTED_MS,
    ).length;
    return before < limit ? [`one was refused after ${before} in 60 s, and the limit is ${limit}`] : [];
  });
  return [...tooMany, ...tooFew];
}
