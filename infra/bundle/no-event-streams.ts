/**
 * What stands in the place of the SDK's event streams in the bundles, 16 kB of code: only `SelectObjectContent` of S3 has such
 * a stream. That operation would fail here.
 */
export const resolveEventStreamSerdeConfig = <Config>(config: Config): Config => config;

export function eventStreamSerdeProvider(): never {
  throw new Error('this bundle has no event streams (infra/bundle/no-event-streams.ts)');
}

export class EventStreamSerde {
  constructor() {
    eventStreamSerdeProvider();
  }
}
