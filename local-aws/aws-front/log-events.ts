import { JsonError } from './json-protocol.ts';

interface InputLogEvent {
  readonly timestamp: number;
  readonly message: string;
}

/** Source: CloudWatch Logs API, "PutLogEvents". */
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const OLDEST_MS = 14 * DAY_MS;
const NEWEST_MS = 2 * HOUR_MS;
const EVENTS_MAX = 10_000;
const BATCH_MAX_BYTES = 1_048_576;
/** What each event counts besides its text. */
const EVENT_BYTES = 26;

/**
 * What PutLogEvents stores of a batch. Events that are too old or too new are only reported; the retention of a group is not considered.
 * @throws JsonError `InvalidParameterException` for a batch of which nothing is stored.
 * Source: the page of the API; LocalStack, answers of AWS recorded in `test_logs_events.py` (order, rejected events); aws-greengrass-log-manager
 * #59 (span).
 */
export function acceptedEvents(
  events: readonly InputLogEvent[],
  now: number,
): { readonly accepted: readonly InputLogEvent[]; readonly rejectedLogEventsInfo?: object } {
  checkSize(events);
  if (events.some(({ timestamp }, index) => timestamp < (events[index - 1]?.timestamp ?? 0))) {
    throw invalid('Log events in a single PutLogEvents request must be in chronological order.');
  }
  const old = events.filter(({ timestamp }) => timestamp < now - OLDEST_MS).length;
  const notNew = events.filter(({ timestamp }) => timestamp <= now + NEWEST_MS).length;
  const accepted = events.slice(old, notNew);
  const span = (accepted.at(-1)?.timestamp ?? 0) - (accepted[0]?.timestamp ?? 0);
  if (span > DAY_MS) {
    throw invalid('The batch of log events in a single PutLogEvents request cannot span more than 24 hours.');
  }
  if (accepted.length === events.length) return { accepted };
  const rejectedLogEventsInfo = {
    ...(old > 0 && { tooOldLogEventEndIndex: old }),
    ...(notNew < events.length && { tooNewLogEventStartIndex: notNew }),
  };
  return { accepted, rejectedLogEventsInfo };
}

function checkSize(events: readonly InputLogEvent[]): void {
  if (events.length < 1) throw violated('logEvents', 'length greater than or equal to 1');
  if (events.length > EVENTS_MAX) throw violated('logEvents', `length less than or equal to ${EVENTS_MAX}`);
  const empty = events.findIndex(({ message }) => message === '');
  if (empty !== -1) throw violated(`logEvents.${empty + 1}.member.message`, 'length greater than or equal to 1');
  const bytes = events.reduce((sum, { message }) => sum + Buffer.byteLength(message) + EVENT_BYTES, 0);
  if (bytes > BATCH_MAX_BYTES) throw invalid(`Upload too large: ${bytes} bytes exceeds limit of ${BATCH_MAX_BYTES}`);
}

const invalid = (message: string) => new JsonError('InvalidParameterException', message);

const violated = (member: string, constraint: string) =>
  invalid(
    `1 validation error detected: Value at '${member}' failed to satisfy constraint: Member must have ${constraint}`,
  );
