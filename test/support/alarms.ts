import { runInNewContext } from 'node:vm';
import { type Synthesized, synthesized } from './synthesized.ts';

/** Decides, from the definition of an alarm in the template, whether it is in the state ALARM, given the values of metrics. */

type Dimensions = Readonly<Record<string, unknown>>;

/** A value that a metric got at one moment. */
export interface MetricValue {
  readonly namespace: string;
  readonly metric: string;
  /** The dimensions by name. A value may be an unresolved reference of the template. */
  readonly dimensions: Dimensions;
  /** When the metric got the value, in epoch milliseconds. */
  readonly at: number;
  readonly value: number;
}

/** A metric as an alarm names it. */
export interface Metric {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: unknown }[];
}

interface MetricQuery {
  readonly Id: string;
  readonly Expression?: string;
  readonly ReturnData?: boolean;
  readonly Period?: number;
  readonly MetricStat?: { readonly Metric: Metric; readonly Period: number; readonly Stat: string };
}

export interface AlarmProperties extends Partial<Metric> {
  readonly AlarmName: string;
  readonly AlarmDescription: string;
  readonly AlarmActions?: readonly unknown[];
  readonly OKActions?: readonly unknown[];
  readonly ComparisonOperator: string;
  readonly Threshold: number;
  readonly DatapointsToAlarm: number;
  readonly EvaluationPeriods: number;
  readonly TreatMissingData: string;
  readonly Statistic?: string;
  readonly Period?: number;
  readonly Metrics?: readonly MetricQuery[];
}

interface CompositeProperties extends Pick<AlarmProperties, 'AlarmName' | 'AlarmActions'> {
  readonly AlarmRule: unknown;
}

/** An alarm of the template that notifies, with the alarms of its rule if it is a composite one. */
export interface TemplateAlarm {
  /** The name of the alarm without stage and Region. */
  readonly name: string;
  readonly description: string;
  /** The logical id of the topic that it notifies. */
  readonly topic: string;
  /** The alarms of the rule, which must all be in the state ALARM; or the alarm itself. */
  readonly all: readonly AlarmProperties[];
}

/** Reads every alarm that notifies a topic, of the stacks with alarms. */
export async function templateAlarms(): Promise<TemplateAlarm[]> {
  const stacks = await Promise.all(['Operations', 'EdgeAlarms'].map(alarmsOfStack));
  return stacks.flat();
}

async function alarmsOfStack(stack: string): Promise<TemplateAlarm[]> {
  const single = await synthesized(stack, 'AWS::CloudWatch::Alarm');
  const composite = await synthesized(stack, 'AWS::CloudWatch::CompositeAlarm');
  const propertiesOf = (alarm: Synthesized) => alarm.Properties as unknown as AlarmProperties;
  return [...single, ...composite].flatMap((alarm) => {
    const { AlarmName, AlarmDescription, AlarmActions } = propertiesOf(alarm);
    const [topic] = AlarmActions ?? [];
    if (!topic) return [];
    const all = composite.includes(alarm) ? single.filter((one) => isInRule(one, alarm)) : [alarm];
    const name = AlarmName.replace('FileHosting-local-', '');
    return {
      name,
      description: AlarmDescription,
      topic: /(Pages|Tickets)[0-9A-F]{8}/.exec(JSON.stringify(topic))?.[0] ?? '',
      all: all.map(propertiesOf),
    };
  });
}

/** The rules of our composite alarms are conjunctions. */
function isInRule({ logicalId }: Synthesized, composite: Synthesized): boolean {
  const { AlarmRule } = composite.Properties as unknown as CompositeProperties;
  const rule = JSON.stringify(AlarmRule);
  if (/ OR |NOT /.test(rule)) throw new Error(`the rule of a composite alarm is not a conjunction: ${rule}`);
  return rule.includes(`"${logicalId}"`);
}

/** @param now  epoch milliseconds: the end of the last period. */
export function isAlarming({ all }: TemplateAlarm, values: readonly MetricValue[], now: number): boolean {
  return all.every((alarm) => isInAlarm(alarm, values, now));
}

function isInAlarm(alarm: AlarmProperties, values: readonly MetricValue[], now: number): boolean {
  if (alarm.ComparisonOperator !== 'GreaterThanOrEqualToThreshold') throw new Error(alarm.ComparisonOperator);
  const queries = queriesOf(alarm);
  const periodMs = 1_000 * periodOf(queries);
  const isBad = Array.from({ length: alarm.EvaluationPeriods }, (_, index) => {
    const to = now - index * periodMs;
    const value = valueInPeriod(queries, values, { from: to - periodMs, to });
    return value === undefined ? alarm.TreatMissingData === 'breaching' : value >= alarm.Threshold;
  });
  return isBad.filter(Boolean).length >= alarm.DatapointsToAlarm;
}

/** All metrics of an alarm, whether it is on one metric or on an expression. */
export function metricsOf(alarm: AlarmProperties): Metric[] {
  return queriesOf(alarm).flatMap(({ MetricStat }) => MetricStat?.Metric ?? []);
}

/** The queries of an alarm. An alarm on one metric is treated as if it had one query, for that metric. */
function queriesOf(alarm: AlarmProperties): readonly MetricQuery[] {
  if (alarm.Metrics) return alarm.Metrics;
  const { Namespace = '', MetricName = '', Dimensions = [], Period = 0, Statistic = '' } = alarm;
  const Metric = { Namespace, MetricName, Dimensions };
  return [{ Id: 'm', MetricStat: { Metric, Period, Stat: Statistic } }];
}

function periodOf(queries: readonly MetricQuery[]): number {
  const [period = 0, ...others] = new Set(
    queries.flatMap(({ MetricStat, Period }) => MetricStat?.Period ?? Period ?? []),
  );
  if (others.length > 0) throw new Error('the metrics of an alarm have several periods, which CloudWatch refuses');
  return period;
}

/** The value of an alarm's only expression, or of its only metric, in one period; undefined when data is missing. */
function valueInPeriod(
  queries: readonly MetricQuery[],
  values: readonly MetricValue[],
  { from, to }: { readonly from: number; readonly to: number },
): number | undefined {
  const within = values.filter(({ at }) => at >= from && at < to);
  const metrics = queries.flatMap(({ Id, MetricStat }) =>
    MetricStat ? [[Id, statisticOf(MetricStat.Stat, within.filter(isOf(MetricStat.Metric)))] as const] : [],
  );
  const [{ Expression } = {}, ...others] = queries.filter((query) => query.Expression !== undefined);
  if (Expression === undefined) return metrics[0]?.[1];
  if (others.length > 0) throw new Error('an alarm has several expressions, which this evaluation does not know');
  return evaluate(Expression, Object.fromEntries(metrics));
}

function isOf({ Namespace, MetricName, Dimensions = [] }: Metric): (value: MetricValue) => boolean {
  const wanted = JSON.stringify(Dimensions.map(({ Name, Value }) => [Name, Value]).toSorted());
  return ({ namespace, metric, dimensions }) =>
    namespace === Namespace &&
    metric === MetricName &&
    JSON.stringify(Object.entries(dimensions).toSorted()) === wanted;
}

function statisticOf(statistic: string, values: readonly MetricValue[]): number | undefined {
  if (values.length === 0) return undefined;
  const numbers = values.map(({ value }) => value);
  const sum = numbers.reduce((total, value) => total + value, 0);
  if (statistic === 'Sum') return sum;
  if (statistic === 'Average') return sum / numbers.length;
  if (statistic === 'Maximum') return Math.max(...numbers);
  throw new Error(`this evaluation does not know the statistic ${statistic}`);
}

/**
 * Metric math of single values: a metric without a value makes the result missing, except in FILL.
 * Source: CloudWatch User Guide, "Using math expressions with CloudWatch metrics".
 */
function evaluate(expression: string, metrics: Readonly<Record<string, number | undefined>>): number | undefined {
  const outsideOfFill = expression.replaceAll(/FILL\(\w+, 0\)/g, '0');
  const needed = Object.keys(metrics).filter((name) => new RegExp(`\\b${name}\\b`).test(outsideOfFill));
  if (needed.some((name) => metrics[name] === undefined)) return undefined;
  const FILL = (value: number | undefined, otherwise: number) => value ?? otherwise;
  const IF = (condition: boolean, then: number, otherwise: number) => (condition ? then : otherwise);
  const result = runInNewContext(expression, { FILL, IF, ...metrics }) as number;
  return Number.isFinite(result) ? result : undefined;
}

/** The values of the metrics in log lines, which CloudWatch would take from them (Embedded Metric Format). */
export function valuesInLog(lines: readonly string[]): MetricValue[] {
  return lines.flatMap((line) => {
    const json = line.slice(line.indexOf('{'));
    if (!json.includes('"_aws"')) return [];
    const record = JSON.parse(json) as Record<string, unknown> & { _aws: EmbeddedMetrics };
    return record._aws.CloudWatchMetrics.flatMap(({ Namespace, Dimensions, Metrics }) =>
      Dimensions.flatMap((names) =>
        Metrics.map(({ Name }) => ({
          namespace: Namespace,
          metric: Name,
          dimensions: Object.fromEntries(names.map((name) => [name, record[name]])),
          at: record._aws.Timestamp,
          value: record[Name] as number,
        })),
      ),
    );
  });
}

interface EmbeddedMetrics {
  readonly Timestamp: number;
  readonly CloudWatchMetrics: readonly {
    readonly Namespace: string;
    readonly Dimensions: readonly (readonly string[])[];
    readonly Metrics: readonly { readonly Name: string }[];
  }[];
}
