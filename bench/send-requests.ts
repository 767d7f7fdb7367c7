import { client } from '../test/support/client.ts';

/** Clients in a process of their own, so that the memory of the service can be measured without the memory of the clients. */

/** The order to the process. It answers with the milliseconds that each request took, or with an error. */
export interface Load {
  readonly baseUrl: string;
  /** One for each client. */
  readonly keys: readonly string[];
  readonly request: 'list' | 'upload';
  readonly seconds: number;
}

export type LoadOutcome = { readonly times: number[] } | { readonly error: string };

const SMALL_FILE = Buffer.alloc(4 * 1024, 'x');

process.on('message', (load: Load) => {
  sendFor(load).then(
    (times) => process.send?.({ times }),
    (error) => process.send?.({ error: String(error) }),
  );
});

async function sendFor({ baseUrl, keys, request, seconds }: Load): Promise<number[]> {
  const times: number[] = [];
  const end = performance.now() + seconds * 1_000;
  const work = async (key: string) => {
    const byKey = client(baseUrl, { key });
    for (let start = performance.now(); start < end; start = performance.now()) {
      const { status } = await (request === 'list' ? byKey.request('GET', '/files') : byKey.upload('a', SMALL_FILE));
      if (status >= 300) throw new Error(`${request} was answered ${status}`);
      times.push(performance.now() - start);
    }
  };
  await Promise.all(keys.map(work));
  return times;
}
