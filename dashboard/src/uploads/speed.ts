/** How far back the speed looks, in milliseconds. */
const SPAN_MS = 10_000;
/** Until so much time has passed, what a socket takes at once would be told for speed. */
const FIRST_AFTER_MS = 2_000;
/** What is sent within this time is one sample. */
const SAMPLE_MS = 250;

/** How fast all uploads together leave this machine. */
export class Speed {
  #since = 0;
  #samples: { readonly at: number; bytes: number }[] = [];

  /** Nothing was being sent, and something is from now on. */
  begin(): void {
    this.#since = Date.now();
    this.#samples = [];
  }

  add(bytes: number): void {
    const now = Date.now();
    const latest = this.#samples.at(-1);
    if (latest && now - latest.at < SAMPLE_MS) latest.bytes += bytes;
    else this.#samples = [...this.#samples.filter(({ at }) => now - at < SPAN_MS), { at: now, bytes }];
  }

  /** Bytes a second over the last ten seconds; undefined until there is something to tell it by. */
  get perSecond(): number | undefined {
    const now = Date.now();
    if (now - this.#since < FIRST_AFTER_MS) return undefined;
    const bytes = this.#samples.reduce((sum, sample) => sum + (now - sample.at < SPAN_MS ? sample.bytes : 0), 0);
    return (1_000 * bytes) / Math.min(SPAN_MS, now - this.#since);
  }
}
