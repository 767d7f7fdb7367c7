import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CloudWatchLogsClient,
  CreateLogStreamCommand,
  GetQueryResultsCommand,
  PutLogEventsCommand,
  paginateDescribeLogGroups,
  type ResultField,
  StartQueryCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';

/** One line of a log. */
export interface LogLine {
  /** When it was written, in UTC. */
  readonly time: string;
  readonly message: string;
}

interface SearchScope {
  /** The Region of the logs; by default the Region of the environment. */
  readonly region?: string | undefined;
  readonly groups: readonly string[];
  /** Epoch milliseconds, both inclusive. */
  readonly from: number;
  readonly to: number;
}

/** The most log groups that one query takes, and the most lines that it returns. Source: CloudWatch Logs API, "StartQuery". */
const GROUPS_MAX = 50;
export const LINES_MAX = 10_000;
/** The texts that a search may have: ids, addresses and words. Other characters could change the query. */
const TEXT = /^[\w.:=-]{1,128}$/;
const POLL_MS = 200;
const QUERY_MS = 60_000;

/**
 * Reads the logs of a stage and writes to its audit trail, with the operator's own credentials. No function of the service may read
 * logs.
 */
export const logStore = {
  /** The names of all log groups that begin with `prefix`, in a Region; by default in the Region of the environment. */
  async groups(prefix: string, region?: string): Promise<string[]> {
    const names: string[] = [];
    for await (const { logGroups = [] } of paginateDescribeLogGroups(
      { client: clientIn(region) },
      { logGroupNamePrefix: prefix },
    )) {
      names.push(...logGroups.map(({ logGroupName = '' }) => logGroupName));
    }
    return names;
  },

  /**
   * Finds the newest {@link LINES_MAX} lines that contain all these texts, in the first {@link GROUPS_MAX} groups. This is the only form of a
   * query of Logs Insights that the local AWS knows.
   * @returns the lines, newest first.
   * @throws Error when the query takes longer than a minute, or fails. Also for a text with other characters than those of ids.
   */
  async search(texts: readonly string[], { region, groups, from, to }: SearchScope): Promise<LogLine[]> {
    const invalid = texts.find((text) => !TEXT.test(text));
    if (invalid !== undefined) throw new Error(`the logs cannot be searched for ${invalid}`);
    if (groups.length === 0) return [];
    const filters = texts.map((text) => `filter @message like "${text}"`);
    const queryString = ['fields @timestamp, @message', ...filters, 'sort @timestamp desc', `limit ${LINES_MAX}`].join(
      ' | ',
    );
    const client = clientIn(region);
    const times = { startTime: Math.floor(from / 1_000), endTime: Math.floor(to / 1_000) };
    const logGroupNames = groups.slice(0, GROUPS_MAX);
    const { queryId } = await client.send(new StartQueryCommand({ logGroupNames, queryString, ...times }));
    for (const until = Date.now() + QUERY_MS; Date.now() < until; await sleep(POLL_MS)) {
      const { status, results = [] } = await client.send(new GetQueryResultsCommand({ queryId }));
      if (status === 'Complete') return results.map(toLine);
      if (status !== 'Running' && status !== 'Scheduled') throw new Error(`the query of the logs ended as ${status}`);
    }
    throw new Error('the query of the logs took longer than a minute');
  },

  /** Writes a record to a new stream of a log group, as a line of JSON. */
  async write(group: string, record: object): Promise<void> {
    const client = clientIn();
    const stream = { logGroupName: group, logStreamName: `${new Date().toISOString().slice(0, 10)}/${randomUUID()}` };
    await client.send(new CreateLogStreamCommand(stream));
    const logEvents = [{ timestamp: Date.now(), message: JSON.stringify(record) }];
    const { rejectedLogEventsInfo } = await client.send(new PutLogEventsCommand({ ...stream, logEvents }));
    // CloudWatch answers 200 when it stores nothing because the time is too far from its own.
    if (rejectedLogEventsInfo) throw new Error('CloudWatch rejected the event');
  },

  /** The ARN of the operator, who owns the credentials. */
  async callerArn(): Promise<string> {
    const { Arn = 'unknown' } = await new STSClient({}).send(new GetCallerIdentityCommand({}));
    return Arn;
  },
};

const clientIn = (region?: string) => new CloudWatchLogsClient(region === undefined ? {} : { region });

function toLine(row: readonly ResultField[]): LogLine {
  const value = (name: string) => row.find(({ field }) => field === name)?.value ?? '';
  return { time: value('@timestamp'), message: value('@message') };
}
