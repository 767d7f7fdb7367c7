import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CloudWatchLogsClient,
  CreateLogStreamCommand,
  GetQueryResultsCommand,
  PutLogEventsCommand,
  paginateDescribeLogGroups,
  StartQueryCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';

/** One row of a query's result, which stands for one line of a log. A field that the line does not have is absent. */
export type LogRow = Readonly<Record<string, string>>;

interface QueryScope {
  /** The Region of the logs; by default the Region of the environment. */
  readonly region?: string | undefined;
  readonly groups: readonly string[];
  /** Epoch milliseconds, both inclusive. */
  readonly from: number;
  readonly to: number;
}

/** The most log groups that one query takes. Source: CloudWatch Logs API, "StartQuery". */
const GROUPS_MAX = 50;
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
   * Runs a query of Logs Insights on the first {@link GROUPS_MAX} groups, and waits for its result.
   * @throws Error when the query takes longer than a minute, or fails.
   */
  async query(queryString: string, { region, groups, from, to }: QueryScope): Promise<LogRow[]> {
    if (groups.length === 0) return [];
    const client = clientIn(region);
    const times = { startTime: Math.floor(from / 1_000), endTime: Math.floor(to / 1_000) };
    const logGroupNames = groups.slice(0, GROUPS_MAX);
    const { queryId } = await client.send(new StartQueryCommand({ logGroupNames, queryString, ...times }));
    for (const until = Date.now() + QUERY_MS; Date.now() < until; await sleep(POLL_MS)) {
      const { status, results = [] } = await client.send(new GetQueryResultsCommand({ queryId }));
      if (status === 'Complete') return results.map(toRow);
      if (status !== 'Running' && status !== 'Scheduled') throw new Error(`the query of the logs ended as ${status}`);
    }
    throw new Error('the query of the logs took longer than a minute');
  },

  /** Writes records to a new stream of a log group, each as a line of JSON. */
  async write(group: string, records: readonly Readonly<Record<string, unknown>>[]): Promise<void> {
    const client = clientIn();
    const stream = { logGroupName: group, logStreamName: `${new Date().toISOString().slice(0, 10)}/${randomUUID()}` };
    await client.send(new CreateLogStreamCommand(stream));
    const logEvents = records.map((record) => ({ timestamp: Date.now(), message: JSON.stringify(record) }));
    const { rejectedLogEventsInfo } = await client.send(new PutLogEventsCommand({ ...stream, logEvents }));
    if (rejectedLogEventsInfo) throw new Error('CloudWatch rejected the events');
  },

  /** The ARN of the operator, who owns the credentials. */
  async callerArn(): Promise<string> {
    const { Arn = 'unknown' } = await new STSClient({}).send(new GetCallerIdentityCommand({}));
    return Arn;
  },
};

const clientIn = (region?: string) => new CloudWatchLogsClient(region === undefined ? {} : { region });

function toRow(fields: readonly { field?: string | undefined; value?: string | undefined }[]): LogRow {
  return Object.fromEntries(fields.flatMap(({ field, value }) => (field && value ? [[field, value]] : [])));
}
