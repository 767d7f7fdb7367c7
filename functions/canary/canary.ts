import { required } from '../../shared/env.ts';
import { describeError, log } from '../../shared/log.ts';
import { measure } from '../../shared/metrics.ts';
import { api, ask, CONTENT, FORM, openService, type Service, type StoredFile, upload, WrongAnswer } from './client.ts';

/** The streaming server is tried only in the first quarter of each hour, in three runs. Two failed runs start the alarm. */
const STREAMING_MINUTES = 15;
/** A file that is older than this was left by a run that has died. */
const LEFTOVER_MS = 5 * 60_000;

/**
 * Runs every five minutes, as a client: asks for the health, uploads a tiny file with a key of its own, reads its link, and deletes
 * it. It writes the number of failed steps as a metric. If it dies, has no key, or is refused at every step as one of many, it writes no
 * metric, and the missing value starts the alarm. If it dies between upload and deletion, a later run deletes the file.
 * @param event  the event of the schedule; its `time` is in ISO 8601.
 * @returns the names of the steps that failed.
 */
export async function handler({ time }: { time: string }): Promise<string[]> {
  const service = await openService();
  if (service === undefined) {
    // This is not a warning, because `npm start` prints warnings, and on one machine the canary usually has no key.
    log('info', 'the canary has no key: npm run admin -- open-canary');
    return [];
  }
  const isStreaming = required('CANARY_STREAMS') === 'true' && new Date(time).getUTCMinutes() < STREAMING_MINUTES;
  const steps: [name: string, step: () => Promise<unknown>][] = [
    ['health', () => ask(`${service.appUrl}/health`, {}, 200)],
    ['form', () => roundTrip(service, { body: FORM })],
    ...(isStreaming ? [['stream', () => roundTrip(service, streamed())] satisfies [string, () => unknown]] : []),
    ['list', () => deleteLeftovers(service)],
  ];
  const failed: string[] = [];
  let unchecked = 0;
  for (const [name, step] of steps) {
    try {
      await step();
    } catch (error) {
      if (isRefusedAsOneOfMany(error)) {
        unchecked += 1;
        log('warn', 'canary step not checked', { step: name, ...describeError(error) });
        continue;
      }
      failed.push(name);
      log('error', 'canary step failed', { step: name, ...describeError(error) });
    }
  }
  if (unchecked < steps.length) measure({}, { CanaryFailures: failed.length });
  return failed;
}

/**
 * The 429 of the gateway or the firewall is no failure: they give it when strangers send more requests than a route admits. If it were a
 * failure, strangers could start the alarm of the canary, which says that the service is broken. For a flood there is GatewayThrottles. A
 * 429 of the service itself is a failure: the canary stays far below the limits of an account.
 */
function isRefusedAsOneOfMany(error: unknown): boolean {
  return error instanceof WrongAnswer && error.status === 429 && !error.wasCounted;
}

/** A body without a length, which the edge sends to the streaming server. */
function streamed(): RequestInit {
  return { body: new Blob([FORM]).stream(), duplex: 'half' } as RequestInit;
}

async function roundTrip(service: Service, form: RequestInit): Promise<void> {
  const uploaded = await upload(service, form);
  const read = await ask(uploaded.url, {}, 200);
  if (read !== CONTENT) throw new Error(`the link has other content: ${read.slice(0, 100)}`);
  await api(service, 'DELETE', `/files/${uploaded.id}`, 200);
}

/** Deletes the files that dead runs have left. */
async function deleteLeftovers(service: Service): Promise<void> {
  const { items } = await api<{ items: StoredFile[] }>(service, 'GET', '/files?limit=100', 200);
  const old = items.filter(({ created_at }) => Date.now() - Date.parse(created_at) > LEFTOVER_MS);
  for (const { id } of old) await api(service, 'DELETE', `/files/${id}`, 200);
}
