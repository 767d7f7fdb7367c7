/**
 * How many times as long as `control` a work takes the processor: the least of five comparisons, so that neither the speed of the machine
 * nor its other load matters.
 */
export async function timesAsLong(work: () => unknown, control: () => unknown): Promise<number> {
  const ratios: number[] = [];
  for (let time = 0; time < 5; time++) ratios.push((await processorMs(work)) / (await processorMs(control)));
  return Math.min(...ratios);
}

/** The processor time of ten runs. */
async function processorMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  for (let run = 0; run < 10; run++) await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
