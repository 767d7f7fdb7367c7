/**
 * Runs a task for each item, up to `concurrency` at a time, and returns the results in the order of the items.
 * @throws the error of the first task that fails. After the failure no further task starts. The error is thrown when the running tasks have
 *   ended.
 */
export async function eachOf<Item, Result>(
  items: readonly Item[],
  concurrency: number,
  task: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const failures: unknown[] = [];
  const work = async () => {
    while (next < items.length && failures.length === 0) {
      const index = next++;
      try {
        results[index] = await task(items[index] as Item);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, work));
  if (failures.length > 0) throw failures[0];
  return results;
}
