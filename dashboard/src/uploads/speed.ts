/** The time over which the speed is averaged. */
const SPAN_MS = 10_000;
/** No speed is shown before this time, because at first many of the sent bytes are only in buffers of this machine. */
const FIRST_AFTER_MS = 2_000;
/** The time that one sample covers. */
const SAMPLE_MS = 250;

/** Measures the speed of all uploads together. */
export class Speed {
  #since = 0;
  #samples: { readonly at: number; bytes: number }[] = [];

  /** Starts a measurement, when an upload starts and none was running. */
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

  /** Bytes per second over the last ten seconds; undefined until it can be measured. */
  get perSecond(): number | undefined {
    const now = Date.now();
    if (now - this.#since < FIRST_AFTER_MS) return undefined;
    const bytes = this.#samples.reduce((sum, sample) => sum + (now - sample.at < SPAN_MS ? sample.bytes : 0), 0);
    return (1_000 * bytes) / Math.min(SPAN_MS, now - this.#since);
  }
}
