/**
 * Replaces the SDK's event streams in the bundles, which would make each bundle some 50 kB larger. Only `SelectObjectContent` of S3 uses
 * such a stream; that operation would fail here.
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
