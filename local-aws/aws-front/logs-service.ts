import { randomUUID } from 'node:crypto';
import type { LogEvent, LogGroups } from '../logs/log-groups.ts';
import { JsonError, type JsonService, jsonReply } from './json-protocol.ts';
import type { Account } from './principals.ts';

interface Input {
  readonly logGroupName?: string;
  readonly logGroupNames?: readonly string[];
  readonly logGroupNamePrefix?: string;
  readonly logStreamName?: string;
  readonly logEvents?: readonly { readonly timestamp: number; readonly message: string }[];
  readonly queryString?: string;
  /** The beginning of the time range, in epoch seconds. */
  readonly startTime?: number;
  readonly endTime?: number;
  readonly queryId?: string;
}

interface Operation {
  readonly parameters: readonly (keyof Input)[];
  perform(input: Input): object;
}

/**
 * The form of a query of Logs Insights that the local AWS runs: the newest events that contain some texts. Its language has much more.
 * Source: CloudWatch Logs User Guide, "CloudWatch Logs Insights QL query syntax".
 */
const QUERY =
  /^fields @timestamp, @message((?: \| filter @message like "[^"\\]+")*) \| sort @timestamp desc \| limit (\d+)$/;

/** A part of CloudWatch Logs: it lists groups, creates streams, writes events, and runs one form of query of Logs Insights. */
export function createLogsService(groups: LogGroups, { region, accountId }: Account): JsonService {
  const arnOf = (group: string) => `arn:aws:logs:${region}:${accountId}:log-group:${group}:*`;
  const resourceOf = (group: string, { logStreamName }: Input) =>
    logStreamName === undefined ? arnOf(group) : arnOf(group).replace(/\*$/, `log-stream:${logStreamName}`);
  const require = (group = '') => {
    if (!groups.has(group)) throw new JsonError('ResourceNotFoundException', 'The specified log group does not exist.');
    return group;
  };
  /** The queries that were started. The first `GetQueryResults` of each answers `Running`. */
  const queries = new Map<string, { readonly events: readonly LogEvent[]; isSeen: boolean }>();

  const operations: Readonly<Record<string, Operation>> = {
    DescribeLogGroups: {
      parameters: ['logGroupNamePrefix'],
      perform: ({ logGroupNamePrefix = '' }) => ({
        logGroups: groups.names
          .filter((name) => name.startsWith(logGroupNamePrefix))
          .map((logGroupName) => ({ logGroupName, arn: arnOf(logGroupName) })),
      }),
    },
    CreateLogStream: {
      parameters: ['logGroupName', 'logStreamName'],
      perform({ logGroupName, logStreamName = '' }) {
        if (groups.createStream(require(logGroupName), logStreamName)) return {};
        throw new JsonError('ResourceAlreadyExistsException', 'The specified log stream already exists');
      },
    },
    PutLogEvents: {
      parameters: ['logGroupName', 'logStreamName', 'logEvents'],
      perform({ logGroupName, logStreamName = '', logEvents: [event, ...others] = [] }) {
        const group = require(logGroupName);
        if (!groups.hasStream(group, logStreamName)) {
          throw new JsonError('ResourceNotFoundException', 'The specified log stream does not exist.');
        }
        // AWS takes batches and checks their order, times and sizes. Our one caller writes single events.
        if (!event || others.length > 0) {
          throw new JsonError('InvalidParameterException', 'The local AWS takes one event at a time.');
        }
        groups.append(group, event.message, { timestamp: event.timestamp, stream: logStreamName });
        return {};
      },
    },
    StartQuery: {
      parameters: ['logGroupNames', 'queryString', 'startTime', 'endTime'],
      perform({ logGroupNames = [], queryString = '', startTime = 0, endTime = 0 }) {
        if (logGroupNames.length < 1 || logGroupNames.length > 50) {
          throw new JsonError('InvalidParameterException', 'A query is over 1 to 50 log groups.');
        }
        const events = logGroupNames.flatMap((name) =>
          groups.between(require(name), startTime * 1_000, endTime * 1_000 + 999),
        );
        const queryId = randomUUID();
        queries.set(queryId, { events: runQuery(queryString, events), isSeen: false });
        return { queryId };
      },
    },
    GetQueryResults: {
      parameters: ['queryId'],
      perform({ queryId = '' }) {
        const query = queries.get(queryId);
        if (!query) throw new JsonError('ResourceNotFoundException', 'The specified query does not exist.');
        const { isSeen } = query;
        query.isSeen = true;
        if (!isSeen) return { status: 'Running', results: [] };
        return { status: 'Complete', results: query.events.map(rowOf) };
      },
    },
  };

  return {
    name: 'logs',
    targetPrefix: 'Logs_20140328.',
    interpret(name, input: Input) {
      const operation = Object.hasOwn(operations, name) ? operations[name] : undefined;
      const isKnown = operation && Object.keys(input).every((key) => operation.parameters.includes(key as keyof Input));
      if (!isKnown) return undefined;
      const named = input.logGroupNames ?? (input.logGroupName === undefined ? [] : [input.logGroupName]);
      const resources = named.length > 0 ? named.map((group) => resourceOf(group, input)) : ['*'];
      const permissions = resources.map((resource) => ({ action: `logs:${name}`, resource }));
      return { tables: [], permissions, perform: async () => jsonReply(200, operation.perform(input)) };
    },
  };
}

/** The newest events that contain all texts of a query. @throws JsonError for any other query than {@link QUERY}. */
function runQuery(query: string, events: readonly LogEvent[]): LogEvent[] {
  const [, filters = '', limit] = QUERY.exec(query) ?? [];
  if (limit === undefined) throw new JsonError('MalformedQueryException', `The local AWS does not run: ${query}`);
  const texts = [...filters.matchAll(/"([^"]+)"/g)].map(([, text = '']) => text);
  return (
    events
      .filter(({ message }) => texts.every((text) => message.includes(text)))
      // Events of the same millisecond stay in the opposite of the order in which they were written.
      .toReversed()
      .toSorted((one, other) => other.timestamp - one.timestamp)
      .slice(0, Number(limit))
  );
}

/** A row of a result. AWS adds `@ptr`, by which a caller can ask for the whole event, to the fields that a query names. */
const rowOf = ({ timestamp, message }: LogEvent, index: number) => [
  { field: '@timestamp', value: new Date(timestamp).toISOString().replace('T', ' ').replace('Z', '') },
  { field: '@message', value: message },
  { field: '@ptr', value: String(index) },
];
